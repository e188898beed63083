package tatp;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A home location register. Whoever calls hands in a connection that does not commit by itself. */
public final class Tatp {

    private Tatp() {
    }

    public record Subscriber(String subNbr, Integer bit1, Integer hex1, Integer byte21, Long mscLocation,
            Long vlrLocation) {
    }

    public record AccessData(Integer data1, Integer data2, String data3, String data4) {
    }

    /** One row by its key. */
    public static Subscriber getSubscriberData(Connection conn, int sId) throws SQLException {
        Subscriber subscriber = new Subscriber(null, null, null, null, null, null);
        try (PreparedStatement stmt = conn.prepareStatement("""
                SELECT sub_nbr, bit_1, hex_1, byte2_1, msc_location, vlr_location
                  FROM subscriber WHERE s_id = ?""")) {
            stmt.setInt(1, sId);
            try (ResultSet rs = stmt.executeQuery()) {
                if (rs.next()) {
                    subscriber = new Subscriber(rs.getString("sub_nbr"), rs.getInt("bit_1"), rs.getInt("hex_1"),
                            rs.getInt("byte2_1"), rs.getLong("msc_location"), rs.getLong("vlr_location"));
                }
            }
        }
        conn.commit();
        return subscriber;
    }

    /** Where a call is forwarded to, or null. */
    public static String getNewDestination(Connection conn, int sId, int sfType, int startTime, int endTime)
            throws SQLException {
        String numberx = null;
        try (PreparedStatement stmt = conn.prepareStatement("""
                SELECT cf.numberx
                  FROM special_facility sf, call_forwarding cf
                 WHERE sf.s_id = ? AND sf.sf_type = ? AND sf.is_active = 1
                   AND cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type
                   AND cf.start_time <= ? AND cf.end_time > ?
                 ORDER BY cf.start_time LIMIT 1
                """)) {
            stmt.setInt(1, sId);
            stmt.setInt(2, sfType);
            stmt.setInt(3, startTime);
            stmt.setInt(4, endTime);
            try (ResultSet rs = stmt.executeQuery()) {
                if (rs.next()) {
                    numberx = rs.getString(1);
                }
            }
        }
        conn.commit();
        return numberx;
    }

    /** One row by its key. */
    public static AccessData getAccessData(Connection conn, int sId, int aiType) throws SQLException {
        AccessData data = new AccessData(null, null, null, null);
        try (PreparedStatement stmt = conn.prepareStatement(
                "SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = ? AND ai_type = ?")) {
            stmt.setInt(1, sId);
            stmt.setInt(2, aiType);
            try (ResultSet rs = stmt.executeQuery()) {
                if (rs.next()) {
                    data = new AccessData(rs.getInt(1), rs.getInt(2), rs.getString(3), rs.getString(4));
                }
            }
        }
        conn.commit();
        return data;
    }

    /** Two tables; fails if the subscriber has no such facility. */
    public static void updateSubscriberData(Connection conn, int sId, int sfType, int bit1, int dataA)
            throws SQLException {
        try (PreparedStatement stmt = conn.prepareStatement("UPDATE subscriber SET bit_1 = ? WHERE s_id = ?")) {
            stmt.setInt(1, bit1);
            stmt.setInt(2, sId);
            stmt.executeUpdate();
        }
        try (PreparedStatement stmt = conn.prepareStatement(
                "SELECT s_id FROM special_facility WHERE s_id = ? AND sf_type = ?")) {
            stmt.setInt(1, sId);
            stmt.setInt(2, sfType);
            try (ResultSet rs = stmt.executeQuery()) {
                if (!rs.next()) {
                    conn.rollback();
                    throw new SQLException("the subscriber has no such facility");
                }
            }
        }
        try (PreparedStatement stmt = conn.prepareStatement(
                "UPDATE special_facility SET data_a = ? WHERE s_id = ? AND sf_type = ?")) {
            stmt.setInt(1, dataA);
            stmt.setInt(2, sId);
            stmt.setInt(3, sfType);
            stmt.executeUpdate();
        }
        conn.commit();
    }

    /** By the subscriber's number, which is unique. */
    public static void updateLocation(Connection conn, String subNbr, long vlrLocation) throws SQLException {
        try (PreparedStatement stmt = conn.prepareStatement(
                "UPDATE subscriber SET vlr_location = ? WHERE sub_nbr = ?")) {
            stmt.setLong(1, vlrLocation);
            stmt.setString(2, subNbr);
            stmt.executeUpdate();
        }
        conn.commit();
    }

    /** Fails if there is one at that time, or if the subscriber has no such facility. */
    public static void insertCallForwarding(Connection conn, String subNbr, int sfType, int startTime, int endTime,
            String numberx) throws SQLException {
        Integer sId = subscriberId(conn, subNbr);
        try (PreparedStatement stmt = conn.prepareStatement(
                "SELECT COUNT(*) FROM special_facility WHERE s_id = ? AND sf_type = ?")) {
            stmt.setObject(1, sId, java.sql.Types.INTEGER);
            stmt.setInt(2, sfType);
            try (ResultSet rs = stmt.executeQuery()) {
                rs.next();
                if (rs.getInt(1) == 0) {
                    conn.rollback();
                    throw new SQLException("the subscriber has no such facility");
                }
            }
        }
        try (PreparedStatement stmt = conn.prepareStatement("""
                INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx)
                VALUES (?, ?, ?, ?, ?)
                """)) {
            stmt.setInt(1, sId);
            stmt.setInt(2, sfType);
            stmt.setInt(3, startTime);
            stmt.setInt(4, endTime);
            stmt.setString(5, numberx);
            stmt.executeUpdate();
        }
        conn.commit();
    }

    /** Does nothing if there is none. */
    public static void deleteCallForwarding(Connection conn, String subNbr, int sfType, int startTime)
            throws SQLException {
        Integer sId = subscriberId(conn, subNbr);
        try (PreparedStatement stmt = conn.prepareStatement(
                "DELETE FROM call_forwarding WHERE s_id = ? AND sf_type = ? AND start_time = ?")) {
            stmt.setObject(1, sId, java.sql.Types.INTEGER);
            stmt.setInt(2, sfType);
            stmt.setInt(3, startTime);
            stmt.executeUpdate();
        }
        conn.commit();
    }

    private static Integer subscriberId(Connection conn, String subNbr) throws SQLException {
        Integer sId = null;
        try (PreparedStatement stmt = conn.prepareStatement("SELECT s_id FROM subscriber WHERE sub_nbr = ?")) {
            stmt.setString(1, subNbr);
            try (ResultSet rs = stmt.executeQuery()) {
                if (rs.next()) {
                    sId = rs.getInt("s_id");
                }
            }
        }
        return sId;
    }
}
