package seats;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * A transaction of the benchmark. A worker calls {@code run} with a connection that does not commit by itself; it
 * commits when {@code run} returns, and rolls back when it throws.
 */
public abstract class Procedure {

    /** The transaction ends by itself. */
    public static class UserAbortException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public UserAbortException(String message) {
            super(message);
        }
    }

    protected final PreparedStatement getPreparedStatement(Connection conn, SQLStmt stmt, Object... params)
            throws SQLException {
        PreparedStatement prepared = conn.prepareStatement(stmt.getSQL());
        for (int i = 0; i < params.length; i++) {
            prepared.setObject(i + 1, params[i]);
        }
        return prepared;
    }
}
