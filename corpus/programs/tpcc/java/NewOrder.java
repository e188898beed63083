package tpcc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** New-Order (clause 2.4). Orders {@code olCnt} items, from {@code firstItem} on, {@code quantity} of each. */
public class NewOrder {

    private static final String GET_CUSTOMER =
            "SELECT c_discount, c_last, c_credit, w_tax"
            + "  FROM " + TpccConfig.CUSTOMER + ", " + TpccConfig.WAREHOUSE
            + " WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?";

    private static final String GET_DISTRICT =
            "SELECT d_next_o_id, d_tax FROM " + TpccConfig.DISTRICT + " WHERE d_id = ? AND d_w_id = ?";

    private static final String UPDATE_DISTRICT =
            "UPDATE " + TpccConfig.DISTRICT + " SET d_next_o_id = ? WHERE d_id = ? AND d_w_id = ?";

    private static final String INSERT_ORDER =
            "INSERT INTO " + TpccConfig.ORDERS
            + " (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)"
            + " VALUES (?, ?, ?, ?, ?, NULL, ?, ?)";

    private static final String INSERT_NEW_ORDER =
            "INSERT INTO " + TpccConfig.NEW_ORDER + " (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)";

    private static final String GET_ITEM =
            "SELECT i_price, i_name, i_data FROM " + TpccConfig.ITEM + " WHERE i_id = ?";

    private static final String GET_STOCK =
            "SELECT s_quantity, s_data,"
            + "       CASE ? WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03"
            + "              WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06"
            + "              WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09"
            + "              ELSE s_dist_10 END AS s_dist_info"
            + "  FROM " + TpccConfig.STOCK
            + " WHERE s_i_id = ? AND s_w_id = ?";

    private static final String UPDATE_STOCK =
            "UPDATE " + TpccConfig.STOCK
            + "   SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1,"
            + "       s_remote_cnt = s_remote_cnt + ?"
            + " WHERE s_i_id = ? AND s_w_id = ?";

    private static final String INSERT_ORDER_LINE =
            "INSERT INTO " + TpccConfig.ORDER_LINE
            + " (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)"
            + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";

    /** The order's number, and its total in ten-thousandths of a cent, since tax and discount are percents. */
    public record Result(int oId, long total) {
    }

    public Result run(Connection conn, int wId, int dId, int cId, int olCnt, int firstItem, int supplyWId,
            int quantity, long now) throws SQLException {
        int discount;
        int wTax;
        try (PreparedStatement stmt = conn.prepareStatement(GET_CUSTOMER)) {
            stmt.setInt(1, wId);
            stmt.setInt(2, dId);
            stmt.setInt(3, cId);
            try (ResultSet rs = stmt.executeQuery()) {
                rs.next();
                discount = rs.getInt("c_discount");
                wTax = rs.getInt("w_tax");
            }
        }

        int oId;
        int dTax;
        try (PreparedStatement stmt = conn.prepareStatement(GET_DISTRICT)) {
            stmt.setInt(1, dId);
            stmt.setInt(2, wId);
            try (ResultSet rs = stmt.executeQuery()) {
                rs.next();
                oId = rs.getInt("d_next_o_id");
                dTax = rs.getInt("d_tax");
            }
        }

        try (PreparedStatement stmt = conn.prepareStatement(UPDATE_DISTRICT)) {
            stmt.setInt(1, oId + 1);
            stmt.setInt(2, dId);
            stmt.setInt(3, wId);
            stmt.executeUpdate();
        }

        int allLocal = 1;
        int remote = 0;
        if (supplyWId != wId) {
            allLocal = 0;
            remote = 1;
        }
        insertOrder(conn, oId, dId, wId, cId, now, olCnt, allLocal);

        long sum = 0;
        try (PreparedStatement getItem = conn.prepareStatement(GET_ITEM);
                PreparedStatement getStock = conn.prepareStatement(GET_STOCK);
                PreparedStatement updateStock = conn.prepareStatement(UPDATE_STOCK);
                PreparedStatement insertLine = conn.prepareStatement(INSERT_ORDER_LINE)) {
            for (int number = 1; number <= olCnt; number++) {
                int item = firstItem + number - 1;

                long price;
                getItem.setInt(1, item);
                try (ResultSet rs = getItem.executeQuery()) {
                    if (!rs.next()) {
                        conn.rollback();
                        throw new UserAbortException("no such item");
                    }
                    price = rs.getLong("i_price");
                }

                int stock;
                String distInfo;
                getStock.setInt(1, dId);
                getStock.setInt(2, item);
                getStock.setInt(3, supplyWId);
                try (ResultSet rs = getStock.executeQuery()) {
                    rs.next();
                    stock = rs.getInt("s_quantity");
                    distInfo = rs.getString("s_dist_info");
                }

                if (stock >= quantity + TpccConfig.STOCK_RESERVE) {
                    stock -= quantity;
                } else {
                    stock = stock - quantity + TpccConfig.STOCK_REFILL;
                }

                updateStock.setInt(1, stock);
                updateStock.setInt(2, quantity);
                updateStock.setInt(3, remote);
                updateStock.setInt(4, item);
                updateStock.setInt(5, supplyWId);
                updateStock.executeUpdate();

                long amount = quantity * price;
                sum += amount;

                insertLine.setInt(1, oId);
                insertLine.setInt(2, dId);
                insertLine.setInt(3, wId);
                insertLine.setInt(4, number);
                insertLine.setInt(5, item);
                insertLine.setInt(6, supplyWId);
                insertLine.setInt(7, quantity);
                insertLine.setLong(8, amount);
                insertLine.setString(9, distInfo);
                insertLine.addBatch();
            }
            insertLine.executeBatch();
        }
        conn.commit();
        return new Result(oId, sum * (100 - discount) * (100 + wTax + dTax));
    }

    private void insertOrder(Connection conn, int oId, int dId, int wId, int cId, long now, int olCnt, int allLocal)
            throws SQLException {
        try (PreparedStatement stmt = conn.prepareStatement(INSERT_ORDER)) {
            stmt.setInt(1, oId);
            stmt.setInt(2, dId);
            stmt.setInt(3, wId);
            stmt.setInt(4, cId);
            stmt.setLong(5, now);
            stmt.setInt(6, olCnt);
            stmt.setInt(7, allLocal);
            stmt.executeUpdate();
        }
        try (PreparedStatement stmt = conn.prepareStatement(INSERT_NEW_ORDER)) {
            stmt.setInt(1, oId);
            stmt.setInt(2, dId);
            stmt.setInt(3, wId);
            stmt.executeUpdate();
        }
    }
}
