package wikipedia;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What users watch: a page, and its talk page with it. */
public class WatchLists {

    private static final int PAGE = 0;
    private static final int TALK = 1;

    private static final String COUNT =
            "SELECT COUNT(*) FROM watchlist WHERE wl_user = ? AND wl_namespace = 0 AND wl_title = ?";
    private static final String ADD = "INSERT INTO watchlist (wl_user, wl_namespace, wl_title) VALUES (?, ?, ?)";
    private static final String REMOVE =
            "DELETE FROM watchlist WHERE wl_user = ? AND wl_namespace = ? AND wl_title = ?";

    /** Nothing happens if it is there. */
    public void addWatchList(Connection conn, int user, String title, long now) throws SQLException {
        int watched;
        try (PreparedStatement ps = conn.prepareStatement(COUNT)) {
            ps.setInt(1, user);
            ps.setString(2, title);
            try (ResultSet rs = ps.executeQuery()) {
                rs.next();
                watched = rs.getInt(1);
            }
        }
        if (watched == 0) {
            try (PreparedStatement ps = conn.prepareStatement(ADD)) {
                ps.setInt(1, user);
                ps.setInt(2, PAGE);
                ps.setString(3, title);
                ps.addBatch();
                ps.setInt(2, TALK);
                ps.addBatch();
                ps.executeBatch();
            }
        }
        touch(conn, user, now);
        conn.commit();
    }

    /** Both go. */
    public void removeWatchList(Connection conn, int user, String title, long now) throws SQLException {
        try (PreparedStatement ps = conn.prepareStatement(REMOVE)) {
            ps.setInt(1, user);
            ps.setInt(2, PAGE);
            ps.setString(3, title);
            ps.executeUpdate();
            ps.setInt(2, TALK);
            ps.executeUpdate();
        }
        touch(conn, user, now);
        conn.commit();
    }

    private void touch(Connection conn, int user, long now) throws SQLException {
        try (PreparedStatement ps = conn.prepareStatement(WikiSql.TOUCH_USER)) {
            ps.setLong(1, now);
            ps.setInt(2, user);
            ps.executeUpdate();
        }
    }
}
