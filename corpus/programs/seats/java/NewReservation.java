package seats;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A seat for a customer; fails if the flight is full, the seat is taken, or the customer has one. */
public class NewReservation extends Procedure {

    public final SQLStmt GetFlight = new SQLStmt(
            "SELECT f_al_id, f_seats_left, f_seats_total FROM flight WHERE f_id = ?");

    public final SQLStmt CheckSeat = new SQLStmt(
            "SELECT COUNT(*) FROM reservation WHERE r_f_id = ? AND r_seat = ?");

    public final SQLStmt CheckCustomer = new SQLStmt(
            "SELECT COUNT(*) FROM reservation WHERE r_f_id = ? AND r_c_id = ?");

    public final SQLStmt GetCustomer = new SQLStmt("SELECT c_id FROM customer WHERE c_id = ?");

    public final SQLStmt InsertReservation = new SQLStmt(
            "INSERT INTO reservation (r_id, r_c_id, r_f_id, r_seat, r_price) VALUES (?, ?, ?, ?, ?)");

    public final SQLStmt UpdateFlight = new SQLStmt(
            "UPDATE flight SET f_seats_left = f_seats_left - 1 WHERE f_id = ?");

    public final SQLStmt UpdateCustomer = new SQLStmt(
            "UPDATE customer SET c_reservations = c_reservations + 1, c_balance = c_balance - ? WHERE c_id = ?");

    public final SQLStmt UpdateFrequentFlyer = new SQLStmt(
            "UPDATE frequent_flyer SET ff_reservations = ff_reservations + 1 WHERE ff_c_id = ? AND ff_al_id = ?");

    public void run(Connection conn, int rId, int cId, int fId, int seat, long price) throws SQLException {
        int airline;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetFlight, fId);
                ResultSet rs = stmt.executeQuery()) {
            if (!rs.next() || rs.getInt("f_seats_left") <= 0 || seat > rs.getInt("f_seats_total")) {
                throw new UserAbortException("no such flight or seat, or no seat left");
            }
            airline = rs.getInt("f_al_id");
        }

        int taken;
        try (PreparedStatement stmt = getPreparedStatement(conn, CheckSeat, fId, seat);
                ResultSet rs = stmt.executeQuery()) {
            rs.next();
            taken = rs.getInt(1);
        }
        int has;
        try (PreparedStatement stmt = getPreparedStatement(conn, CheckCustomer, fId, cId);
                ResultSet rs = stmt.executeQuery()) {
            rs.next();
            has = rs.getInt(1);
        }
        boolean exists;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetCustomer, cId);
                ResultSet rs = stmt.executeQuery()) {
            exists = rs.next();
        }
        if (taken > 0 || has > 0 || !exists) {
            throw new UserAbortException("the seat is taken, or the customer has one or does not exist");
        }

        try (PreparedStatement stmt = getPreparedStatement(conn, InsertReservation, rId, cId, fId, seat, price)) {
            stmt.executeUpdate();
        }
        try (PreparedStatement stmt = getPreparedStatement(conn, UpdateFlight, fId)) {
            stmt.executeUpdate();
        }
        try (PreparedStatement stmt = getPreparedStatement(conn, UpdateCustomer, price, cId)) {
            stmt.executeUpdate();
        }
        try (PreparedStatement stmt = getPreparedStatement(conn, UpdateFrequentFlyer, cId, airline)) {
            stmt.executeUpdate();
        }
    }
}
