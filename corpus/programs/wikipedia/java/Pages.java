package wikipedia;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Readers. */
public class Pages {

    /** The latest revision, and its text, unless it must not be read. */
    public record Page(int revId, String text) {
    }

    /** The text of a page, unless the reader's address is blocked or the page is restricted. */
    public Page getPageAnonymous(Connection conn, int namespace, String title, String address)
            throws SQLException, PageException {
        try {
            int pageId;
            int revId;
            try (PreparedStatement ps = conn.prepareStatement(WikiSql.PAGE_BY_TITLE)) {
                ps.setInt(1, namespace);
                ps.setString(2, title);
                try (ResultSet rs = ps.executeQuery()) {
                    if (!rs.next()) {
                        throw new PageException("no such page");
                    }
                    pageId = rs.getInt("page_id");
                    revId = rs.getInt("page_latest");
                }
            }
            int restrictions = count(conn, WikiSql.COUNT_RESTRICTIONS, pageId);
            int blocks;
            try (PreparedStatement ps = conn.prepareStatement("SELECT COUNT(*) FROM ipblocks WHERE ipb_address = ?")) {
                ps.setString(1, address);
                try (ResultSet rs = ps.executeQuery()) {
                    rs.next();
                    blocks = rs.getInt(1);
                }
            }
            String text = null;
            if (restrictions == 0 && blocks == 0) {
                text = text(conn, pageId, revId);
            }
            conn.commit();
            return new Page(revId, text);
        } catch (SQLException | PageException failure) {
            conn.rollback();
            throw failure;
        }
    }

    /** The text of a page for a user who has logged in; administrators may read everything. */
    public Page getPageAuthenticated(Connection conn, int namespace, String title, int user)
            throws SQLException, PageException {
        try {
            String name = null;
            try (PreparedStatement ps = conn.prepareStatement("SELECT user_name FROM useracct WHERE user_id = ?")) {
                ps.setInt(1, user);
                try (ResultSet rs = ps.executeQuery()) {
                    if (rs.next()) {
                        name = rs.getString(1);
                    }
                }
            }
            Integer pageId = null;
            int revId = 0;
            try (PreparedStatement ps = conn.prepareStatement(WikiSql.PAGE_BY_TITLE)) {
                ps.setInt(1, namespace);
                ps.setString(2, title);
                try (ResultSet rs = ps.executeQuery()) {
                    if (rs.next()) {
                        pageId = rs.getInt(1);
                        revId = rs.getInt(2);
                    }
                }
            }
            if (name == null || pageId == null) {
                throw new PageException("no such user or page");
            }
            int groups = count(conn, "SELECT COUNT(*) FROM user_groups WHERE ug_user = ? AND ug_group = 'sysop'", user);
            int restrictions = count(conn, WikiSql.COUNT_RESTRICTIONS, pageId);
            int blocks = count(conn, "SELECT COUNT(*) FROM ipblocks WHERE ipb_user = ?", user);
            String text = null;
            if (groups > 0 || (restrictions == 0 && blocks == 0)) {
                text = text(conn, pageId, revId);
            }
            conn.commit();
            return new Page(revId, text);
        } catch (SQLException | PageException failure) {
            conn.rollback();
            throw failure;
        }
    }

    /** The number that a query about a number gives. */
    private static int count(Connection conn, String sql, int key) throws SQLException {
        try (PreparedStatement ps = conn.prepareStatement(sql)) {
            ps.setInt(1, key);
            try (ResultSet rs = ps.executeQuery()) {
                rs.next();
                return rs.getInt(1);
            }
        }
    }

    private static String text(Connection conn, int pageId, int revId) throws SQLException {
        int textId = 0;
        try (PreparedStatement ps = conn.prepareStatement(WikiSql.TEXT_OF_REVISION)) {
            ps.setInt(1, pageId);
            ps.setInt(2, revId);
            try (ResultSet rs = ps.executeQuery()) {
                if (rs.next()) {
                    textId = rs.getInt("rev_text_id");
                }
            }
        }
        try (PreparedStatement ps = conn.prepareStatement(WikiSql.TEXT)) {
            ps.setInt(1, textId);
            try (ResultSet rs = ps.executeQuery()) {
                return rs.next() ? rs.getString("old_text") : null;
            }
        }
    }
}
