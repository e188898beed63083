import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Looks for a name and registers it; a unique key refuses the second. */
public class Register {
    private final String url;

    public Register(String url) {
        this.url = url;
    }

    public void register(int id, int name) throws SQLException {
        try (Connection conn = DriverManager.getConnection(url)) {
            conn.setAutoCommit(false);
            try (PreparedStatement select = conn.prepareStatement("SELECT COUNT(*) FROM users WHERE name = ?")) {
                select.setInt(1, name);
                ResultSet rs = select.executeQuery();
                rs.next();
                if (rs.getInt(1) > 0) {
                    conn.rollback();
                    return;
                }
            }
            try (PreparedStatement insert = conn.prepareStatement("INSERT INTO users (id, name) VALUES (?, ?)")) {
                insert.setInt(1, id);
                insert.setInt(2, name);
                insert.executeUpdate();
            }
            conn.commit();
        }
    }
}
