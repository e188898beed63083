import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Takes the number that an UPDATE made. */
public class Returning {
    private final String url;

    public Returning(String url) {
        this.url = url;
    }

    public void invoice(int id) throws SQLException {
        try (Connection conn = DriverManager.getConnection(url)) {
            conn.setAutoCommit(false);
            int last;
            try (PreparedStatement update = conn.prepareStatement(
                    "UPDATE numbers SET last = last + 1 WHERE id = 1 RETURNING last")) {
                ResultSet rs = update.executeQuery();
                rs.next();
                last = rs.getInt(1);
            }
            try (PreparedStatement insert = conn.prepareStatement("INSERT INTO invoices (id, number) VALUES (?, ?)")) {
                insert.setInt(1, id);
                insert.setInt(2, last);
                insert.executeUpdate();
            }
            conn.commit();
        }
    }
}
