package wikipedia;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Writers. */
public class Edits {

    /**
     * A new revision, by a user who has seen the last one: if there is a newer one, the edit is refused. Whoever
     * watches the page and was not yet told is told.
     *
     * @return how many were told
     */
    public int updatePage(Connection conn, int namespace, String title, int user, Integer seen, int revId,
            String text, long now) throws SQLException, PageException {
        Integer page = null;
        int latest = 0;
        try (PreparedStatement ps = conn.prepareStatement(WikiSql.PAGE_BY_TITLE)) {
            ps.setInt(1, namespace);
            ps.setString(2, title);
            try (ResultSet rs = ps.executeQuery()) {
                if (rs.next()) {
                    page = rs.getInt("page_id");
                    latest = rs.getInt("page_latest");
                }
            }
        }
        if (page == null || (seen != null && seen != latest)) {
            conn.rollback();
            throw new PageException("no such page, or another revision than that which was seen");
        }

        try (PreparedStatement ps = conn.prepareStatement(
                "INSERT INTO page_text (old_id, old_page, old_text) VALUES (?, ?, ?)")) {
            ps.setInt(1, revId);
            ps.setInt(2, page);
            ps.setString(3, text);
            ps.executeUpdate();
        }
        try (PreparedStatement ps = conn.prepareStatement(
                "INSERT INTO revision (rev_id, rev_page, rev_text_id, rev_parent_id, rev_user, rev_timestamp) "
                + "VALUES (?, ?, ?, ?, ?, ?)")) {
            ps.setInt(1, revId);
            ps.setInt(2, page);
            ps.setInt(3, revId);
            ps.setInt(4, latest);
            ps.setInt(5, user);
            ps.setLong(6, now);
            ps.executeUpdate();
        }
        try (PreparedStatement ps = conn.prepareStatement(
                "UPDATE page SET page_latest = ?, page_touched = ? WHERE page_id = ?")) {
            ps.setInt(1, revId);
            ps.setLong(2, now);
            ps.setInt(3, page);
            ps.executeUpdate();
        }
        try (PreparedStatement ps = conn.prepareStatement(
                "INSERT INTO recentchanges (rc_this_oldid, rc_last_oldid, rc_cur_id, rc_user, rc_timestamp) "
                + "VALUES (?, ?, ?, ?, ?)")) {
            ps.setInt(1, revId);
            ps.setInt(2, latest);
            ps.setInt(3, page);
            ps.setInt(4, user);
            ps.setLong(5, now);
            ps.executeUpdate();
        }

        int told = tellWatchers(conn, namespace, title, user, now);
        log(conn, revId, user, page, now);
        countEdit(conn, user, now);
        conn.commit();
        return told;
    }

    private int tellWatchers(Connection conn, int namespace, String title, int user, long now) throws SQLException {
        int told = 0;
        try (PreparedStatement watchers = conn.prepareStatement(
                        "SELECT wl_user FROM watchlist "
                        + "WHERE wl_namespace = ? AND wl_title = ? AND wl_user <> ? AND wl_notified IS NULL "
                        + "ORDER BY wl_user");
                PreparedStatement tell = conn.prepareStatement(
                        "UPDATE watchlist SET wl_notified = ? "
                        + "WHERE wl_user = ? AND wl_namespace = ? AND wl_title = ?")) {
            watchers.setInt(1, namespace);
            watchers.setString(2, title);
            watchers.setInt(3, user);
            try (ResultSet rs = watchers.executeQuery()) {
                while (rs.next()) {
                    tell.setLong(1, now);
                    tell.setInt(2, rs.getInt("wl_user"));
                    tell.setInt(3, namespace);
                    tell.setString(4, title);
                    tell.executeUpdate();
                    told++;
                }
            }
        }
        return told;
    }

    private void log(Connection conn, int revId, int user, int page, long now) throws SQLException {
        String sql = "INSERT INTO logging (log_id, log_action, log_user, log_page, log_timestamp)"
                + " VALUES (?, 'patrol', ?, ?, ?)";
        try (PreparedStatement ps = conn.prepareStatement(sql)) {
            ps.setInt(1, revId);
            ps.setInt(2, user);
            ps.setInt(3, page);
            ps.setLong(4, now);
            ps.executeUpdate();
        }
    }

    private void countEdit(Connection conn, int user, long now) throws SQLException {
        int edits;
        try (PreparedStatement ps = conn.prepareStatement("SELECT user_editcount FROM useracct WHERE user_id = ?")) {
            ps.setInt(1, user);
            try (ResultSet rs = ps.executeQuery()) {
                rs.next();
                edits = rs.getInt("user_editcount");
            }
        }
        try (PreparedStatement ps = conn.prepareStatement(
                "UPDATE useracct SET user_editcount = ?, user_touched = ? WHERE user_id = ?")) {
            ps.setInt(1, edits + 1);
            ps.setLong(2, now);
            ps.setInt(3, user);
            ps.executeUpdate();
        }
    }
}
