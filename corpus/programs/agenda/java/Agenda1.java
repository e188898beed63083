package agenda;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A seat is booked, wrongly: the commit after the query ends the transaction too early. */
public class Agenda1 {

    public void chooseSeat(Connection conn, int flight) throws SQLException {
        int avail = 0;
        try (PreparedStatement query = conn.prepareStatement("SELECT avail FROM flights WHERE fltnum = ?")) {
            query.setInt(1, flight);
            try (ResultSet rs = query.executeQuery()) {
                if (rs.next()) {
                    avail = rs.getInt("avail");
                }
            }
        }
        conn.commit();
        if (avail > 0) {
            try (PreparedStatement update = conn.prepareStatement("UPDATE flights SET avail = ? WHERE fltnum = ?")) {
                update.setInt(1, avail - 1);
                update.setInt(2, flight);
                update.executeUpdate();
            }
            conn.commit();
        }
    }
}
