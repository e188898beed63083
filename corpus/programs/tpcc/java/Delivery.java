package tpcc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Delivery (clause 2.7): the oldest new order of each district. */
public class Delivery {

    private static final String GET_OLDEST =
            "SELECT MIN(no_o_id) FROM " + TpccConfig.NEW_ORDER + " WHERE no_d_id = ? AND no_w_id = ?";

    private static final String DELETE_NEW_ORDER =
            "DELETE FROM " + TpccConfig.NEW_ORDER + " WHERE no_o_id = ? AND no_d_id = ? AND no_w_id = ?";

    private static final String GET_CUSTOMER_ID =
            "SELECT o_c_id FROM " + TpccConfig.ORDERS + " WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?";

    private static final String UPDATE_CARRIER =
            "UPDATE " + TpccConfig.ORDERS + " SET o_carrier_id = ? WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?";

    private static final String UPDATE_DELIVERY_DATE =
            "UPDATE " + TpccConfig.ORDER_LINE
            + " SET ol_delivery_d = ? WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?";

    private static final String SUM_AMOUNTS =
            "SELECT SUM(ol_amount) AS ol_total FROM " + TpccConfig.ORDER_LINE
            + " WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?";

    private static final String UPDATE_CUSTOMER =
            "UPDATE " + TpccConfig.CUSTOMER
            + "   SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1"
            + " WHERE c_id = ? AND c_d_id = ? AND c_w_id = ?";

    /** How many orders were delivered. */
    public int run(Connection conn, int wId, int carrierId, long now) throws SQLException {
        int delivered = 0;
        for (int dId = 1; dId <= TpccConfig.DISTRICTS_PER_WAREHOUSE; dId++) {
            Integer oId = oldestNewOrder(conn, wId, dId);
            if (oId == null) {
                continue;
            }
            deliver(conn, wId, dId, oId, carrierId, now);
            delivered++;
        }
        conn.commit();
        return delivered;
    }

    private Integer oldestNewOrder(Connection conn, int wId, int dId) throws SQLException {
        try (PreparedStatement stmt = conn.prepareStatement(GET_OLDEST)) {
            stmt.setInt(1, dId);
            stmt.setInt(2, wId);
            try (ResultSet rs = stmt.executeQuery()) {
                rs.next();
                int oId = rs.getInt(1);
                return rs.wasNull() ? null : oId;
            }
        }
    }

    private void deliver(Connection conn, int wId, int dId, int oId, int carrierId, long now) throws SQLException {
        try (PreparedStatement stmt = conn.prepareStatement(DELETE_NEW_ORDER)) {
            stmt.setInt(1, oId);
            stmt.setInt(2, dId);
            stmt.setInt(3, wId);
            stmt.executeUpdate();
        }

        int cId;
        try (PreparedStatement stmt = conn.prepareStatement(GET_CUSTOMER_ID)) {
            stmt.setInt(1, oId);
            stmt.setInt(2, dId);
            stmt.setInt(3, wId);
            try (ResultSet rs = stmt.executeQuery()) {
                rs.next();
                cId = rs.getInt("o_c_id");
            }
        }

        try (PreparedStatement stmt = conn.prepareStatement(UPDATE_CARRIER)) {
            stmt.setInt(1, carrierId);
            stmt.setInt(2, oId);
            stmt.setInt(3, dId);
            stmt.setInt(4, wId);
            stmt.executeUpdate();
        }

        try (PreparedStatement stmt = conn.prepareStatement(UPDATE_DELIVERY_DATE)) {
            stmt.setLong(1, now);
            stmt.setInt(2, oId);
            stmt.setInt(3, dId);
            stmt.setInt(4, wId);
            stmt.executeUpdate();
        }

        long total;
        try (PreparedStatement stmt = conn.prepareStatement(SUM_AMOUNTS)) {
            stmt.setInt(1, oId);
            stmt.setInt(2, dId);
            stmt.setInt(3, wId);
            try (ResultSet rs = stmt.executeQuery()) {
                rs.next();
                total = rs.getLong("ol_total");
            }
        }

        try (PreparedStatement stmt = conn.prepareStatement(UPDATE_CUSTOMER)) {
            stmt.setLong(1, total);
            stmt.setInt(2, cId);
            stmt.setInt(3, dId);
            stmt.setInt(4, wId);
            stmt.executeUpdate();
        }
    }
}
