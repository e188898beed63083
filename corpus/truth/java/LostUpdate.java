import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Reads a balance and writes it back. */
public class LostUpdate {
    private final String url;

    public LostUpdate(String url) {
        this.url = url;
    }

    public void deposit(int id, int amount) throws SQLException {
        try (Connection conn = DriverManager.getConnection(url)) {
            conn.setAutoCommit(false);
            int balance;
            try (PreparedStatement select = conn.prepareStatement("SELECT balance FROM accounts WHERE id = ?")) {
                select.setInt(1, id);
                ResultSet rs = select.executeQuery();
                rs.next();
                balance = rs.getInt(1);
            }
            try (PreparedStatement update = conn.prepareStatement("UPDATE accounts SET balance = ? WHERE id = ?")) {
                update.setInt(1, balance + amount);
                update.setInt(2, id);
                update.executeUpdate();
            }
            conn.commit();
        }
    }
}
