package seats;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** How many seats of a flight are open, the first of them, and its price, which rises as they fill. */
public class FindOpenSeats extends Procedure {

    public final SQLStmt GetFlight = new SQLStmt(
            "SELECT f_base_price, f_seats_total, f_seats_left FROM flight WHERE f_id = ?");

    public final SQLStmt GetSeats = new SQLStmt(
            "SELECT r_seat FROM reservation WHERE r_f_id = ? ORDER BY r_seat");

    public record Result(int left, Integer seat, long price) {
    }

    public Result run(Connection conn, int fId) throws SQLException {
        long basePrice;
        long total;
        int left;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetFlight, fId)) {
            ResultSet rs = stmt.executeQuery();
            if (!rs.next()) {
                throw new UserAbortException("no such flight");
            }
            basePrice = rs.getLong("f_base_price");
            total = rs.getLong("f_seats_total");
            left = rs.getInt("f_seats_left");
            rs.close();
        }

        // The seats come in order: the first one that is not as expected is open.
        Integer seat = 1;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetSeats, fId)) {
            ResultSet rs = stmt.executeQuery();
            while (rs.next()) {
                int taken = rs.getInt("r_seat");
                if (taken == seat) {
                    seat = seat + 1;
                }
            }
            rs.close();
        }

        long rise = basePrice * (total - left);
        long price = basePrice + (rise - rise % total) / total;
        if (left == 0) {
            seat = null;
        }
        return new Result(left, seat, price);
    }
}
