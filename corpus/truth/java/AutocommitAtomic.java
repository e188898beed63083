import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** One statement, which commits by itself. */
public class AutocommitAtomic {
    private final String url;

    public AutocommitAtomic(String url) {
        this.url = url;
    }

    public void deposit(int id, int amount) throws SQLException {
        try (Connection conn = DriverManager.getConnection(url);
                PreparedStatement update = conn.prepareStatement("UPDATE accounts SET balance = balance + ? WHERE id = ?")) {
            update.setInt(1, amount);
            update.setInt(2, id);
            update.executeUpdate();
        }
    }
}
