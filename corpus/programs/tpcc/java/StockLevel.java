package tpcc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Stock-Level (clause 2.8): how many items of the last twenty orders are low. */
public class StockLevel {

    private static final String GET_NEXT_ORDER =
            "SELECT d_next_o_id FROM " + TpccConfig.DISTRICT + " WHERE d_w_id = ? AND d_id = ?";

    private static final String COUNT_LOW_STOCK =
            "SELECT COUNT(DISTINCT s_i_id) AS low_stock"
            + "  FROM " + TpccConfig.ORDER_LINE + ", " + TpccConfig.STOCK
            + " WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ?"
            + "   AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?";

    public int run(Connection conn, int wId, int dId, int threshold) throws SQLException {
        PreparedStatement getNextOrder = null;
        PreparedStatement countLowStock = null;
        try {
            getNextOrder = conn.prepareStatement(GET_NEXT_ORDER);
            getNextOrder.setInt(1, wId);
            getNextOrder.setInt(2, dId);
            ResultSet rs = getNextOrder.executeQuery();
            rs.next();
            int next = rs.getInt("d_next_o_id");
            rs.close();

            countLowStock = conn.prepareStatement(COUNT_LOW_STOCK);
            countLowStock.setInt(1, wId);
            countLowStock.setInt(2, dId);
            countLowStock.setInt(3, next);
            countLowStock.setInt(4, next - 20);
            countLowStock.setInt(5, wId);
            countLowStock.setInt(6, threshold);
            rs = countLowStock.executeQuery();
            rs.next();
            int low = rs.getInt("low_stock");
            rs.close();

            conn.commit();
            return low;
        } finally {
            if (getNextOrder != null) {
                getNextOrder.close();
            }
            if (countLowStock != null) {
                countLowStock.close();
            }
        }
    }
}
