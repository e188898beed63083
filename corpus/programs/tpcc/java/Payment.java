package tpcc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Payment (clause 2.5). The customer is given by number, or, if that is null, by name: of those who have it, the one in
 * the middle, by first name.
 */
public class Payment {

    private static final String UPDATE_WAREHOUSE =
            "UPDATE " + TpccConfig.WAREHOUSE + " SET w_ytd = w_ytd + ? WHERE w_id = ?";

    private static final String GET_WAREHOUSE =
            "SELECT w_name FROM " + TpccConfig.WAREHOUSE + " WHERE w_id = ?";

    private static final String UPDATE_DISTRICT =
            "UPDATE " + TpccConfig.DISTRICT + " SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?";

    private static final String GET_DISTRICT =
            "SELECT d_name FROM " + TpccConfig.DISTRICT + " WHERE d_w_id = ? AND d_id = ?";

    private static final String COUNT_BY_NAME =
            "SELECT COUNT(c_id) FROM " + TpccConfig.CUSTOMER + " WHERE c_last = ? AND c_d_id = ? AND c_w_id = ?";

    private static final String GET_BY_NAME =
            "SELECT c_id, c_credit, c_balance, c_ytd_payment, c_payment_cnt FROM " + TpccConfig.CUSTOMER
            + " WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first";

    private static final String GET_BY_ID =
            "SELECT c_id, c_credit, c_balance, c_ytd_payment, c_payment_cnt FROM " + TpccConfig.CUSTOMER
            + " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";

    private static final String GET_DATA =
            "SELECT c_data FROM " + TpccConfig.CUSTOMER + " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";

    private static final String UPDATE_BAD_CUSTOMER =
            "UPDATE " + TpccConfig.CUSTOMER
            + "   SET c_balance = ?, c_ytd_payment = ?, c_payment_cnt = ?,"
            + "       c_data = SUBSTR(CONCAT(?, ' ', ?, ' ', ?, ' ', ?, ' ', ?, ' ', ?, ' ', ?), 1, 500)"
            + " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";

    private static final String UPDATE_CUSTOMER =
            "UPDATE " + TpccConfig.CUSTOMER + " SET c_balance = ?, c_ytd_payment = ?, c_payment_cnt = ?"
            + " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";

    private static final String INSERT_HISTORY =
            "INSERT INTO " + TpccConfig.HISTORY
            + " (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)"
            + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

    public record Result(int customer, long balance) {
    }

    public Result run(Connection conn, int wId, int dId, int cWId, int cDId, Integer cId, String cLast, long amount,
            long now) throws SQLException {
        try (PreparedStatement stmt = conn.prepareStatement(UPDATE_WAREHOUSE)) {
            stmt.setLong(1, amount);
            stmt.setInt(2, wId);
            stmt.executeUpdate();
        }

        String wName;
        try (PreparedStatement stmt = conn.prepareStatement(GET_WAREHOUSE)) {
            stmt.setInt(1, wId);
            ResultSet rs = stmt.executeQuery();
            rs.next();
            wName = rs.getString(1);
            rs.close();
        }

        try (PreparedStatement stmt = conn.prepareStatement(UPDATE_DISTRICT)) {
            stmt.setLong(1, amount);
            stmt.setInt(2, wId);
            stmt.setInt(3, dId);
            stmt.executeUpdate();
        }

        String dName;
        try (PreparedStatement stmt = conn.prepareStatement(GET_DISTRICT)) {
            stmt.setInt(1, wId);
            stmt.setInt(2, dId);
            ResultSet rs = stmt.executeQuery();
            rs.next();
            dName = rs.getString(1);
            rs.close();
        }

        Integer customer = null;
        String credit = null;
        long balance = 0;
        long ytdPayment = 0;
        int paymentCnt = 0;
        if (cId == null) {
            int names = countByName(conn, cLast, cDId, cWId);
            try (PreparedStatement stmt = conn.prepareStatement(GET_BY_NAME)) {
                stmt.setInt(1, cWId);
                stmt.setInt(2, cDId);
                stmt.setString(3, cLast);
                try (ResultSet rs = stmt.executeQuery()) {
                    for (int n = 0; n * 2 < names; n++) {
                        rs.next();
                        customer = rs.getInt("c_id");
                        credit = rs.getString("c_credit");
                        balance = rs.getLong("c_balance");
                        ytdPayment = rs.getLong("c_ytd_payment");
                        paymentCnt = rs.getInt("c_payment_cnt");
                    }
                }
            }
        } else {
            try (PreparedStatement stmt = conn.prepareStatement(GET_BY_ID)) {
                stmt.setInt(1, cWId);
                stmt.setInt(2, cDId);
                stmt.setInt(3, cId);
                try (ResultSet rs = stmt.executeQuery()) {
                    if (rs.next()) {
                        customer = rs.getInt("c_id");
                        credit = rs.getString("c_credit");
                        balance = rs.getLong("c_balance");
                        ytdPayment = rs.getLong("c_ytd_payment");
                        paymentCnt = rs.getInt("c_payment_cnt");
                    }
                }
            }
        }
        if (customer == null) {
            conn.rollback();
            throw new UserAbortException("no such customer");
        }

        balance -= amount;
        if (credit.equals(TpccConfig.BAD_CREDIT)) {
            String data;
            try (PreparedStatement stmt = conn.prepareStatement(GET_DATA)) {
                stmt.setInt(1, cWId);
                stmt.setInt(2, cDId);
                stmt.setInt(3, customer);
                try (ResultSet rs = stmt.executeQuery()) {
                    rs.next();
                    data = rs.getString("c_data");
                }
            }
            try (PreparedStatement stmt = conn.prepareStatement(UPDATE_BAD_CUSTOMER)) {
                stmt.setLong(1, balance);
                stmt.setLong(2, ytdPayment + amount);
                stmt.setInt(3, paymentCnt + 1);
                stmt.setInt(4, customer);
                stmt.setInt(5, cDId);
                stmt.setInt(6, cWId);
                stmt.setInt(7, dId);
                stmt.setInt(8, wId);
                stmt.setLong(9, amount);
                stmt.setString(10, data);
                stmt.setInt(11, cWId);
                stmt.setInt(12, cDId);
                stmt.setInt(13, customer);
                stmt.executeUpdate();
            }
        } else {
            try (PreparedStatement stmt = conn.prepareStatement(UPDATE_CUSTOMER)) {
                stmt.setLong(1, balance);
                stmt.setLong(2, ytdPayment + amount);
                stmt.setInt(3, paymentCnt + 1);
                stmt.setInt(4, cWId);
                stmt.setInt(5, cDId);
                stmt.setInt(6, customer);
                stmt.executeUpdate();
            }
        }

        try (PreparedStatement stmt = conn.prepareStatement(INSERT_HISTORY)) {
            int i = 1;
            stmt.setInt(i++, cDId);
            stmt.setInt(i++, cWId);
            stmt.setInt(i++, customer);
            stmt.setInt(i++, dId);
            stmt.setInt(i++, wId);
            stmt.setLong(i++, now);
            stmt.setLong(i++, amount);
            stmt.setString(i, wName + "    " + dName);
            stmt.executeUpdate();
        }
        conn.commit();
        return new Result(customer, balance);
    }

    private int countByName(Connection conn, String cLast, int cDId, int cWId) throws SQLException {
        try (PreparedStatement stmt = conn.prepareStatement(COUNT_BY_NAME)) {
            stmt.setString(1, cLast);
            stmt.setInt(2, cDId);
            stmt.setInt(3, cWId);
            try (ResultSet rs = stmt.executeQuery()) {
                rs.next();
                return rs.getInt(1);
            }
        }
    }
}
