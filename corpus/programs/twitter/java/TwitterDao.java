package twitter;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Short messages, and who follows whom. Each method takes a connection from the pool. */
public class TwitterDao {

    private static final String TWEETS = "tweets";
    private static final String PROFILES = "user_profiles";

    private final DataSource pool;

    public TwitterDao(DataSource pool) {
        this.pool = pool;
    }

    public record Tweet(Integer uid, String text) {
    }

    public record Tweets(int count, Long newest) {
    }

    public record Followers(int count, String first) {
    }

    /** One tweet by its key. */
    public Tweet getTweet(long id) throws SQLException {
        try (Connection c = open();
                PreparedStatement s = c.prepareStatement("SELECT uid, text_body FROM " + TWEETS + " WHERE id = ?")) {
            s.setLong(1, id);
            Integer uid = null;
            String text = null;
            try (ResultSet r = s.executeQuery()) {
                if (r.next()) {
                    uid = r.getInt("uid");
                    text = r.getString("text_body");
                }
            }
            c.commit();
            return new Tweet(uid, text);
        }
    }

    /** How many tweets those have written whom a user follows, and the newest of them. */
    public Tweets getTweetsFromFollowing(int uid) throws SQLException {
        try (Connection c = open();
                PreparedStatement following = c.prepareStatement("SELECT f2 FROM follows WHERE f1 = ? ORDER BY f2");
                PreparedStatement tweets = c.prepareStatement(
                        "SELECT COUNT(*), MAX(id) FROM " + TWEETS + " WHERE uid = ?")) {
            int count = 0;
            Long newest = null;
            following.setInt(1, uid);
            try (ResultSet followees = following.executeQuery()) {
                while (followees.next()) {
                    tweets.setInt(1, followees.getInt("f2"));
                    try (ResultSet r = tweets.executeQuery()) {
                        r.next();
                        count += r.getInt(1);
                        long id = r.getLong(2);
                        if (!r.wasNull() && (newest == null || id > newest)) {
                            newest = id;
                        }
                    }
                }
            }
            c.commit();
            return new Tweets(count, newest);
        }
    }

    /** How many follow a user, and the one whose name comes first. */
    public Followers getFollowers(int uid) throws SQLException {
        try (Connection c = open()) {
            int count = 0;
            String first = null;
            PreparedStatement followers = c.prepareStatement("SELECT f2 FROM followers WHERE f1 = ? ORDER BY f2");
            PreparedStatement profile = c.prepareStatement("SELECT name FROM " + PROFILES + " WHERE uid = ?");
            followers.setInt(1, uid);
            ResultSet rows = followers.executeQuery();
            while (rows.next()) {
                profile.setInt(1, rows.getInt(1));
                ResultSet r = profile.executeQuery();
                r.next();
                String name = r.getString("name");
                r.close();
                count++;
                if (first == null || name.compareTo(first) < 0) {
                    first = name;
                }
            }
            rows.close();
            followers.close();
            profile.close();
            c.commit();
            return new Followers(count, first);
        }
    }

    /** How many tweets a user has written, and the newest. */
    public Tweets getUserTweets(int uid) throws SQLException {
        try (Connection c = open(); Statement s = c.createStatement()) {
            try (ResultSet r = s.executeQuery("SELECT COUNT(*), MAX(id) FROM " + TWEETS + " WHERE uid = " + uid)) {
                r.next();
                Tweets tweets = new Tweets(r.getInt(1), (Long) r.getObject(2));
                c.commit();
                return tweets;
            }
        }
    }

    /** Fails if the number is taken, or if there is no such user. */
    public void insertTweet(long id, int uid, String text, long now) throws SQLException {
        String insert = "INSERT INTO " + TWEETS + " (id, uid, text_body, createdate)";
        insert += " VALUES (?, ?, ?, ?)";
        try (Connection c = open()) {
            try (PreparedStatement s = c.prepareStatement(insert)) {
                s.setLong(1, id);
                s.setInt(2, uid);
                s.setString(3, text);
                s.setLong(4, now);
                s.executeUpdate();
            }
            try (PreparedStatement s = c.prepareStatement(
                    "UPDATE " + PROFILES + " SET tweets = tweets + 1 WHERE uid = ?")) {
                s.setInt(1, uid);
                s.executeUpdate();
            }
            c.commit();
        }
    }

    /** Fails if it is so already, or if either does not exist. */
    public void follow(int uid, int followee) throws SQLException {
        try (Connection c = open()) {
            try (PreparedStatement s = c.prepareStatement("INSERT INTO follows (f1, f2) VALUES (?, ?)")) {
                s.setInt(1, uid);
                s.setInt(2, followee);
                s.executeUpdate();
            }
            try (PreparedStatement s = c.prepareStatement("INSERT INTO followers (f1, f2) VALUES (?, ?)")) {
                s.setInt(1, followee);
                s.setInt(2, uid);
                s.executeUpdate();
            }
            changeFollowers(c, followee, 1);
            c.commit();
        }
    }

    /** Does nothing if nobody is followed. */
    public void unfollow(int uid, int followee) throws SQLException {
        try (Connection c = open()) {
            int follows;
            try (PreparedStatement s = c.prepareStatement("SELECT COUNT(*) FROM follows WHERE f1 = ? AND f2 = ?")) {
                s.setInt(1, uid);
                s.setInt(2, followee);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    follows = r.getInt(1);
                }
            }
            if (follows > 0) {
                try (PreparedStatement s = c.prepareStatement("DELETE FROM follows WHERE f1 = ? AND f2 = ?")) {
                    s.setInt(1, uid);
                    s.setInt(2, followee);
                    s.executeUpdate();
                }
                try (PreparedStatement s = c.prepareStatement("DELETE FROM followers WHERE f1 = ? AND f2 = ?")) {
                    s.setInt(1, followee);
                    s.setInt(2, uid);
                    s.executeUpdate();
                }
                changeFollowers(c, followee, -1);
            }
            c.commit();
        }
    }

    /** Reads how many there are, and writes one more or less. */
    private void changeFollowers(Connection c, int uid, int change) throws SQLException {
        int followers;
        try (PreparedStatement s = c.prepareStatement("SELECT followers FROM " + PROFILES + " WHERE uid = ?")) {
            s.setInt(1, uid);
            try (ResultSet r = s.executeQuery()) {
                r.next();
                followers = r.getInt("followers");
            }
        }
        try (PreparedStatement s = c.prepareStatement("UPDATE " + PROFILES + " SET followers = ? WHERE uid = ?")) {
            s.setInt(1, followers + change);
            s.setInt(2, uid);
            s.executeUpdate();
        }
    }

    private Connection open() throws SQLException {
        Connection c = pool.getConnection();
        c.setAutoCommit(false);
        return c;
    }
}
