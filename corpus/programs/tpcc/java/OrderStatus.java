package tpcc;

import static tpcc.TpccConfig.CUSTOMER;
import static tpcc.TpccConfig.ORDERS;
import static tpcc.TpccConfig.ORDER_LINE;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Order-Status (clause 2.6): the last order of a customer, who is found as in Payment; how many lines it has, their
 * sum, and when the last one was delivered.
 */
public class OrderStatus {

    private static final String COUNT_BY_NAME =
            "SELECT COUNT(c_id) FROM " + CUSTOMER + " WHERE c_last = ? AND c_d_id = ? AND c_w_id = ?";

    private static final String GET_BY_NAME =
            "SELECT c_id, c_balance FROM " + CUSTOMER
            + " WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first";

    private static final String GET_BY_ID =
            "SELECT c_id, c_balance FROM " + CUSTOMER + " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";

    private static final String GET_LAST_ORDER =
            "SELECT o_id, o_carrier_id, o_entry_d FROM " + ORDERS
            + " WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1";

    private static final String GET_LINES =
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM " + ORDER_LINE
            + " WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?";

    public record Result(long balance, Integer oId, Integer carrierId, int lines, long amount, Long deliveryD) {
    }

    public Result run(Connection conn, int wId, int dId, Integer cId, String cLast) throws SQLException {
        Integer customer = null;
        long balance = 0;
        if (cId == null) {
            int names;
            try (PreparedStatement stmt = conn.prepareStatement(COUNT_BY_NAME)) {
                stmt.setString(1, cLast);
                stmt.setInt(2, dId);
                stmt.setInt(3, wId);
                try (ResultSet rs = stmt.executeQuery()) {
                    rs.next();
                    names = rs.getInt(1);
                }
            }
            try (PreparedStatement stmt = conn.prepareStatement(GET_BY_NAME)) {
                stmt.setInt(1, wId);
                stmt.setInt(2, dId);
                stmt.setString(3, cLast);
                try (ResultSet rs = stmt.executeQuery()) {
                    int n = 0;
                    while (n * 2 < names) {
                        rs.next();
                        customer = rs.getInt(1);
                        balance = rs.getLong(2);
                        n++;
                    }
                }
            }
        } else {
            try (PreparedStatement stmt = conn.prepareStatement(GET_BY_ID)) {
                stmt.setInt(1, wId);
                stmt.setInt(2, dId);
                stmt.setInt(3, cId);
                try (ResultSet rs = stmt.executeQuery()) {
                    if (rs.next()) {
                        customer = rs.getInt(1);
                        balance = rs.getLong(2);
                    }
                }
            }
        }
        if (customer == null) {
            conn.rollback();
            throw new UserAbortException("no such customer");
        }

        Integer oId = null;
        Integer carrierId = null;
        try (PreparedStatement stmt = conn.prepareStatement(GET_LAST_ORDER)) {
            stmt.setInt(1, wId);
            stmt.setInt(2, dId);
            stmt.setInt(3, customer);
            try (ResultSet rs = stmt.executeQuery()) {
                if (rs.next()) {
                    oId = rs.getInt("o_id");
                    carrierId = (Integer) rs.getObject("o_carrier_id");
                }
            }
        }

        int lines = 0;
        long amount = 0;
        Long deliveryD = null;
        try (PreparedStatement stmt = conn.prepareStatement(GET_LINES)) {
            stmt.setObject(1, oId, java.sql.Types.INTEGER);
            stmt.setInt(2, dId);
            stmt.setInt(3, wId);
            try (ResultSet rs = stmt.executeQuery()) {
                while (rs.next()) {
                    lines++;
                    amount += rs.getLong("ol_amount");
                    deliveryD = (Long) rs.getObject("ol_delivery_d");
                }
            }
        }
        conn.commit();
        return new Result(balance, oId, carrierId, lines, amount, deliveryD);
    }
}
