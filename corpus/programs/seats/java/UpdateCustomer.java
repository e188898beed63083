package seats;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;

/** Two attributes of a customer, and of what airlines know of her. */
public class UpdateCustomer extends Procedure {

    public final SQLStmt GetCustomer = new SQLStmt("SELECT c_base_ap_id FROM customer WHERE c_id = ?");

    public final SQLStmt GetAirport = new SQLStmt(
            "SELECT ap_name FROM airport, country WHERE ap_id = ? AND ap_co_id = co_id");

    public final SQLStmt UpdateAttributes = new SQLStmt(
            "UPDATE customer SET c_iattr00 = ?, c_iattr01 = ? WHERE c_id = ?");

    public final SQLStmt GetFrequentFlyers = new SQLStmt(
            "SELECT ff_al_id FROM frequent_flyer WHERE ff_c_id = ? ORDER BY ff_al_id");

    public final SQLStmt UpdateFrequentFlyer = new SQLStmt(
            "UPDATE frequent_flyer SET ff_iattr00 = ?, ff_iattr01 = ? WHERE ff_c_id = ? AND ff_al_id = ?");

    public record Result(String airport, int flyers) {
    }

    public Result run(Connection conn, int cId, Long attr0, Long attr1) throws SQLException {
        int baseAirport;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetCustomer, cId);
                ResultSet rs = stmt.executeQuery()) {
            if (!rs.next()) {
                throw new UserAbortException("no such customer");
            }
            baseAirport = rs.getInt(1);
        }

        String airport = null;
        try (PreparedStatement stmt = getPreparedStatement(conn, GetAirport, baseAirport);
                ResultSet rs = stmt.executeQuery()) {
            if (rs.next()) {
                airport = rs.getString("ap_name");
            }
        }

        try (PreparedStatement stmt = getPreparedStatement(conn, UpdateAttributes)) {
            stmt.setObject(1, attr0, Types.BIGINT);
            stmt.setObject(2, attr1, Types.BIGINT);
            stmt.setInt(3, cId);
            stmt.executeUpdate();
        }

        int flyers = 0;
        try (PreparedStatement flyersOf = getPreparedStatement(conn, GetFrequentFlyers, cId);
                PreparedStatement update = getPreparedStatement(conn, UpdateFrequentFlyer);
                ResultSet rs = flyersOf.executeQuery()) {
            while (rs.next()) {
                int airline = rs.getInt("ff_al_id");
                update.setObject(1, attr0, Types.BIGINT);
                update.setObject(2, attr1, Types.BIGINT);
                update.setInt(3, cId);
                update.setInt(4, airline);
                update.executeUpdate();
                flyers++;
            }
        }
        return new Result(airport, flyers);
    }
}
