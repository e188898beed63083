import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A connection of JDBC commits each statement, unless somebody says otherwise. */
public class DefaultAutocommit {
    private final String url;

    public DefaultAutocommit(String url) {
        this.url = url;
    }

    public void deposit(int id, int amount) throws SQLException {
        try (Connection conn = DriverManager.getConnection(url)) {
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
        }
    }
}
