package agenda;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A transfer, rightly: both updates are one transaction, and the money is either moved or not. */
public class Agenda3Fixed {

    public void transfer(Connection conn, int fromAccount, int toAccount, int amount) throws SQLException {
        int balance = 0;
        try (PreparedStatement query = conn.prepareStatement("SELECT balance FROM saving WHERE acctnum = ?")) {
            query.setInt(1, fromAccount);
            ResultSet rs = query.executeQuery();
            if (rs.next()) {
                balance = rs.getInt(1);
            }
        }
        if (balance > amount) {
            change(conn, "UPDATE saving SET balance = balance - ? WHERE acctnum = ?", amount, fromAccount);
            change(conn, "UPDATE checking SET balance = balance + ? WHERE acctnum = ?", amount, toAccount);
        }
        conn.commit();
    }

    private void change(Connection conn, String sql, int amount, int account) throws SQLException {
        try (PreparedStatement update = conn.prepareStatement(sql)) {
            update.setInt(1, amount);
            update.setInt(2, account);
            update.executeUpdate();
        }
    }
}
