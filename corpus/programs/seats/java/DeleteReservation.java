package seats;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The customer, given by number or by name, gets the price back. */
public class DeleteReservation extends Procedure {

    public final SQLStmt GetCustomer = new SQLStmt("SELECT c_id FROM customer WHERE c_login = ?");

    public final SQLStmt GetReservation = new SQLStmt(
            "SELECT r_id, r_price FROM reservation WHERE r_f_id = ? AND r_c_id = ?");

    public final SQLStmt GetFlight = new SQLStmt("SELECT f_al_id, f_seats_left FROM flight WHERE f_id = ?");

    public final SQLStmt DeleteReservation = new SQLStmt("DELETE FROM reservation WHERE r_id = ?");

    public final SQLStmt UpdateFlight = new SQLStmt("UPDATE flight SET f_seats_left = ? WHERE f_id = ?");

    public final SQLStmt UpdateCustomer = new SQLStmt(
            "UPDATE customer SET c_reservations = c_reservations - 1, c_balance = c_balance + ? WHERE c_id = ?");

    public final SQLStmt UpdateFrequentFlyer = new SQLStmt(
            "UPDATE frequent_flyer SET ff_reservations = ff_reservations - 1 WHERE ff_c_id = ? AND ff_al_id = ?");

    /** The price. */
    public long run(Connection conn, int fId, Integer cId, String cLogin) throws SQLException {
        if (cId == null) {
            try (PreparedStatement stmt = getPreparedStatement(conn, GetCustomer, cLogin);
                    ResultSet rs = stmt.executeQuery()) {
                if (rs.next()) {
                    cId = rs.getInt("c_id");
                }
            }
        }

        Integer rId = null;
        long price = 0;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetReservation)) {
            stmt.setInt(1, fId);
            stmt.setObject(2, cId, java.sql.Types.INTEGER);
            try (ResultSet rs = stmt.executeQuery()) {
                if (rs.next()) {
                    rId = rs.getInt("r_id");
                    price = rs.getLong("r_price");
                }
            }
        }
        if (rId == null) {
            throw new UserAbortException("no such customer or reservation");
        }

        int airline;
        int left;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetFlight, fId);
                ResultSet rs = stmt.executeQuery()) {
            rs.next();
            airline = rs.getInt("f_al_id");
            left = rs.getInt("f_seats_left");
        }

        try (PreparedStatement stmt = getPreparedStatement(conn, DeleteReservation, rId)) {
            stmt.executeUpdate();
        }
        try (PreparedStatement stmt = getPreparedStatement(conn, UpdateFlight, left + 1, fId)) {
            stmt.executeUpdate();
        }
        try (PreparedStatement stmt = getPreparedStatement(conn, UpdateCustomer, price, cId)) {
            stmt.executeUpdate();
        }
        try (PreparedStatement stmt = getPreparedStatement(conn, UpdateFrequentFlyer, cId, airline)) {
            stmt.executeUpdate();
        }
        return price;
    }
}
