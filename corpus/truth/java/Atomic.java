import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Reads and writes a balance in one statement. */
public class Atomic {
    private final String url;

    public Atomic(String url) {
        this.url = url;
    }

    public void deposit(int id, int amount) throws SQLException {
        try (Connection conn = DriverManager.getConnection(url)) {
            conn.setAutoCommit(false);
            try (PreparedStatement update = conn.prepareStatement("UPDATE accounts SET balance = balance + ? WHERE id = ?")) {
                update.setInt(1, amount);
                update.setInt(2, id);
                update.executeUpdate();
            }
            conn.commit();
        }
    }
}
