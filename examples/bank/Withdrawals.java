import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Takes money out of accounts, as many programs do: look, compute, write. */
public class Withdrawals {
    private static final String FIND = "SELECT balance FROM accounts WHERE id = ?";
    private static final String SET = "UPDATE accounts SET balance = ? WHERE id = ?";

    public void withdraw(Connection connection, int id, int amount) throws SQLException {
        connection.setAutoCommit(false);
        int balance;
        try (PreparedStatement find = connection.prepareStatement(FIND)) {
            find.setInt(1, id);
            try (ResultSet rows = find.executeQuery()) {
                if (!rows.next()) {
                    throw new SQLException("there is no such account");
                }
                balance = rows.getInt("balance");
            }
        }
        if (balance < amount) {
            connection.rollback();
            return;
        }
        try (PreparedStatement set = connection.prepareStatement(SET)) {
            set.setInt(1, balance - amount);
            set.setInt(2, id);
            set.executeUpdate();
        }
        connection.commit();
    }
}
