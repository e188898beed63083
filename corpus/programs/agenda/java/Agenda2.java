package agenda;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A delivery, wrongly: an order line that comes in after the first commit is not in the sum. */
public class Agenda2 {

    private static final String SUM = "SELECT SUM(ol_amount) FROM order_line WHERE c_id = ?";
    private static final String PAY = "UPDATE customer SET c_balance = c_balance + ? WHERE c_id = ?";
    private static final String OWED = "SELECT c_balance FROM customer WHERE c_id = ?";
    private static final String ORDER = "INSERT INTO order_line (o_id, c_id, ol_amount) VALUES (?, ?, ?)";

    public void delivery(Connection conn, int cId) throws SQLException {
        int total;
        try (PreparedStatement sum = conn.prepareStatement(SUM)) {
            sum.setInt(1, cId);
            try (ResultSet rs = sum.executeQuery()) {
                rs.next();
                total = rs.getInt(1);
            }
        }
        conn.commit();
        try (PreparedStatement pay = conn.prepareStatement(PAY)) {
            pay.setInt(1, total);
            pay.setInt(2, cId);
            pay.executeUpdate();
        }
        conn.commit();
    }

    public void newOrder(Connection conn, int oId, int cId, int amount) throws SQLException {
        int owed;
        try (PreparedStatement query = conn.prepareStatement(OWED)) {
            query.setInt(1, cId);
            try (ResultSet rs = query.executeQuery()) {
                rs.next();
                owed = rs.getInt("c_balance");
            }
        }
        if (owed == 0) {
            try (PreparedStatement order = conn.prepareStatement(ORDER)) {
                order.setInt(1, oId);
                order.setInt(2, cId);
                order.setInt(3, amount);
                order.executeUpdate();
            }
        }
        conn.commit();
    }
}
