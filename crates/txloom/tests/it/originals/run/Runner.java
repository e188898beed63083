import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * Runs Java originals, as an application server would. Lines come in and lines go out; fields are separated by tabs,
 * and values are written {@code null}, {@code 12} or {@code 'text}, with tabs, line breaks and backslashes escaped.
 *
 * <pre>
 *   program  smallbank.SmallBank                    its classes; from now on a new connection
 *     ready
 *   call     send_payment  'ada  'ben  120          SmallBank.sendPayment, or run of a class SendPayment
 *     done                                          and what it returned: the parts of a record, or one value
 *   call     balance  'nobody
 *     failed 'no such customer
 *   end                                             the connection is closed
 *     ready
 * </pre>
 *
 * After each call the worker commits what is open, or, if it threw, rolls it back.
 */
public final class Runner {

    private final String url;
    private final PrintStream out;
    private Connection connection;
    private List<Class<?>> classes = List.of();

    private Runner(String url, PrintStream out) {
        this.url = url;
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Runner runner = new Runner(args[0], new PrintStream(System.out, true, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            runner.obey(line.split("\t", -1));
        }
    }

    private void obey(String[] words) throws Exception {
        switch (words[0]) {
            case "program" -> begin(words);
            case "call" -> out.println(call(words));
            case "end" -> {
                close();
                out.println("ready");
            }
            default -> throw new IllegalArgumentException("what is " + words[0] + "?");
        }
    }

    private void begin(String[] words) throws Exception {
        close();
        List<Class<?>> found = new ArrayList<>();
        for (int i = 1; i < words.length; i++) {
            found.add(Class.forName(words[i]));
        }
        classes = found;
        connection = connect();
        connection.setAutoCommit(false);
        out.println("ready");
    }

    private void close() throws SQLException {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(url);
    }

    private String call(String[] words) throws Exception {
        Method method = find(words[1]);
        Object instance = Modifier.isStatic(method.getModifiers()) ? null : create(method.getDeclaringClass());
        Class<?>[] types = method.getParameterTypes();
        Object[] arguments = new Object[types.length];
        int next = 2;
        for (int i = 0; i < types.length; i++) {
            arguments[i] = types[i] == Connection.class ? connection : argument(types[i], words[next++]);
        }
        if (next != words.length) {
            throw new IllegalArgumentException(method + " does not take " + (words.length - 2) + " arguments");
        }
        try {
            Object result = method.invoke(instance, arguments);
            commit();
            return "done" + (method.getReturnType() == void.class ? "" : results(result));
        } catch (InvocationTargetException thrown) {
            rollback();
            return "failed\t" + show(String.valueOf(thrown.getCause().getMessage()));
        }
    }

    private void commit() throws SQLException {
        connection.setAutoCommit(false);
        connection.commit();
    }

    private void rollback() throws SQLException {
        connection.setAutoCommit(false);
        connection.rollback();
    }

    /** {@code new_order} is {@code NewOrder.run}, or a method {@code newOrder} of any class. */
    private Method find(String procedure) {
        String camel = camel(procedure);
        String className = camel.substring(0, 1).toUpperCase(Locale.ROOT) + camel.substring(1);
        for (Class<?> type : classes) {
            String wanted = type.getSimpleName().equals(className) ? "run" : camel;
            for (Method method : type.getMethods()) {
                if (method.getName().equals(wanted) && method.getDeclaringClass() == type) {
                    return method;
                }
            }
        }
        throw new IllegalArgumentException("no class has " + procedure);
    }

    private static String camel(String snake) {
        StringBuilder camel = new StringBuilder();
        for (String word : snake.split("_")) {
            boolean isFirst = camel.length() == 0;
            camel.append(isFirst ? word : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1));
        }
        return camel.toString();
    }

    private Object create(Class<?> type) throws Exception {
        Constructor<?> constructor = type.getConstructors()[0];
        Class<?>[] wants = constructor.getParameterTypes();
        if (wants.length == 0) {
            return constructor.newInstance();
        }
        return constructor.newInstance(wants[0] == DataSource.class ? pool() : connection);
    }

    /** A pool that is always empty: every connection is a new one. */
    private DataSource pool() {
        return (DataSource) java.lang.reflect.Proxy.newProxyInstance(
                Runner.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("getConnection")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    return connect();
                });
    }

    private static Object argument(Class<?> type, String word) {
        if (word.equals("null")) {
            return null;
        } else if (type == String.class) {
            return unescape(word.substring(1));
        } else if (type == int.class || type == Integer.class) {
            return Integer.valueOf(word);
        } else if (type == long.class || type == Long.class) {
            return Long.valueOf(word);
        }
        throw new IllegalArgumentException("a parameter of type " + type);
    }

    private static String results(Object result) throws Exception {
        if (!(result instanceof Record)) {
            return "\t" + show(result);
        }
        StringBuilder shown = new StringBuilder();
        for (RecordComponent part : result.getClass().getRecordComponents()) {
            part.getAccessor().setAccessible(true);
            shown.append('\t').append(show(part.getAccessor().invoke(result)));
        }
        return shown.toString();
    }

    private static String show(Object value) {
        return value instanceof String text ? "'" + escape(text) : String.valueOf(value);
    }

    private static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }

    private static String unescape(String text) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                c = text.charAt(++i);
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            }
            plain.append(c);
        }
        return plain.toString();
    }
}
