package voter;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A talent show whose audience votes by telephone. */
public class VoteService {

    /** The vote counts. */
    public static final int VOTE_SUCCESSFUL = 0;
    /** There is no such contestant. */
    public static final int ERR_INVALID_CONTESTANT = 1;
    /** The telephone has voted often enough. */
    public static final int ERR_VOTER_OVER_VOTE_LIMIT = 2;

    private static final int MAX_VOTES_PER_PHONE = 2;
    private static final long NUMBERS_PER_AREA = 10_000_000L;
    private static final String UNKNOWN_STATE = "XX";

    public final String checkContestant =
            "SELECT contestant_number FROM contestants WHERE contestant_number = ?";
    public final String checkVoter =
            "SELECT COUNT(*) FROM votes WHERE phone_number = ?";
    public final String checkState =
            "SELECT state FROM area_code_state WHERE area_code = ?";
    public final String insertVote =
            "INSERT INTO votes (vote_id, phone_number, state, contestant_number) VALUES (?, ?, ?, ?)";
    public final String countVote =
            "UPDATE contestants SET total = total + 1 WHERE contestant_number = ?";

    public int vote(Connection conn, long voteId, long phoneNumber, int contestantNumber) throws SQLException {
        conn.setAutoCommit(false);

        boolean contestantExists;
        try (PreparedStatement ps = conn.prepareStatement(checkContestant)) {
            ps.setInt(1, contestantNumber);
            try (ResultSet rs = ps.executeQuery()) {
                contestantExists = rs.next();
            }
        }

        int votes;
        try (PreparedStatement ps = conn.prepareStatement(checkVoter)) {
            ps.setLong(1, phoneNumber);
            try (ResultSet rs = ps.executeQuery()) {
                rs.next();
                votes = rs.getInt(1);
            }
        }

        // Telephones whose area is not known vote in a state of their own.
        long areaCode = (phoneNumber - phoneNumber % NUMBERS_PER_AREA) / NUMBERS_PER_AREA;
        String state;
        try (PreparedStatement ps = conn.prepareStatement(checkState)) {
            ps.setLong(1, areaCode);
            try (ResultSet rs = ps.executeQuery()) {
                state = rs.next() ? rs.getString(1) : UNKNOWN_STATE;
            }
        }

        if (!contestantExists) {
            conn.commit();
            return ERR_INVALID_CONTESTANT;
        }
        if (votes >= MAX_VOTES_PER_PHONE) {
            conn.commit();
            return ERR_VOTER_OVER_VOTE_LIMIT;
        }

        try (PreparedStatement ps = conn.prepareStatement(insertVote)) {
            ps.setLong(1, voteId);
            ps.setLong(2, phoneNumber);
            ps.setString(3, state);
            ps.setInt(4, contestantNumber);
            ps.execute();
        }
        try (PreparedStatement ps = conn.prepareStatement(countVote)) {
            ps.setInt(1, contestantNumber);
            ps.execute();
        }
        conn.commit();
        return VOTE_SUCCESSFUL;
    }
}
