package seats;

/** A statement of a procedure, by name, so that it can be prepared when it is needed. */
public class SQLStmt {

    private final String sql;

    public SQLStmt(String sql) {
        this.sql = sql;
    }

    public String getSQL() {
        return sql;
    }
}
