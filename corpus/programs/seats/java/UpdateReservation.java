package seats;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Another seat on the same flight; fails if it is taken or there is no reservation. */
public class UpdateReservation extends Procedure {

    public final SQLStmt CheckSeat = new SQLStmt(
            "SELECT COUNT(*) FROM reservation WHERE r_f_id = ? AND r_seat = ?");

    public final SQLStmt GetFlight = new SQLStmt("SELECT f_seats_total FROM flight WHERE f_id = ?");

    public final SQLStmt GetReservation = new SQLStmt(
            "SELECT r_c_id FROM reservation WHERE r_id = ? AND r_f_id = ?");

    public final SQLStmt UpdateSeat = new SQLStmt(
            "UPDATE reservation SET r_seat = ? WHERE r_id = ? AND r_f_id = ? AND r_c_id = ?");

    public void run(Connection conn, int rId, int fId, int seat) throws SQLException {
        int taken;
        try (PreparedStatement stmt = getPreparedStatement(conn, CheckSeat, fId, seat);
                ResultSet rs = stmt.executeQuery()) {
            rs.next();
            taken = rs.getInt(1);
        }
        int total = 0;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetFlight, fId);
                ResultSet rs = stmt.executeQuery()) {
            if (rs.next()) {
                total = rs.getInt(1);
            }
        }
        Integer customer = null;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetReservation, rId, fId);
                ResultSet rs = stmt.executeQuery()) {
            if (rs.next()) {
                customer = rs.getInt("r_c_id");
            }
        }
        if (taken > 0 || seat > total || customer == null) {
            throw new UserAbortException("the seat is taken, or there is no such seat or reservation");
        }
        try (PreparedStatement stmt = getPreparedStatement(conn, UpdateSeat, seat, rId, fId, customer)) {
            stmt.executeUpdate();
        }
    }
}
