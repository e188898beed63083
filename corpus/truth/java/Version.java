import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Optimistic locking. */
public class Version {
    private final String url;

    public Version(String url) {
        this.url = url;
    }

    public void deposit(int id, int amount) throws SQLException {
        try (Connection conn = DriverManager.getConnection(url)) {
            conn.setAutoCommit(false);
            int balance;
            int version;
            try (PreparedStatement select = conn.prepareStatement("SELECT balance, version FROM accounts WHERE id = ?")) {
                select.setInt(1, id);
                ResultSet rs = select.executeQuery();
                rs.next();
                balance = rs.getInt("balance");
                version = rs.getInt("version");
            }
            try (PreparedStatement update = conn.prepareStatement(
                    "UPDATE accounts SET balance = ?, version = version + 1 WHERE id = ? AND version = ?")) {
                update.setInt(1, balance + amount);
                update.setInt(2, id);
                update.setInt(3, version);
                if (update.executeUpdate() == 0) {
                    conn.rollback();
                    throw new IllegalStateException("somebody else was faster");
                }
            }
            conn.commit();
        }
    }
}
