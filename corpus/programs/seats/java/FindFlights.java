package seats;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * How many flights leave an airport for another one, or for one that is near it, in a span of time; the cheapest of
 * them, and its airline.
 */
public class FindFlights extends Procedure {

    public final SQLStmt GetFlights = new SQLStmt(
            "SELECT f_id, f_al_id, f_base_price FROM flight"
            + " WHERE f_depart_ap_id = ? AND f_depart_time >= ? AND f_depart_time <= ?"
            + "   AND f_arrive_ap_id IN ("
            + "       SELECT d_ap_id1 FROM airport_distance WHERE d_ap_id0 = ? AND d_distance <= ?)"
            + " ORDER BY f_id");

    public final SQLStmt GetAirline = new SQLStmt("SELECT al_name FROM airline WHERE al_id = ?");

    public record Result(int flights, Integer flight, String airline) {
    }

    public Result run(Connection conn, int departAirport, int arriveAirport, long start, long end, int distance)
            throws SQLException {
        int flights = 0;
        Integer cheapestFlight = null;
        String cheapestAirline = null;
        long cheapest = 0;
        try (PreparedStatement getFlights = getPreparedStatement(conn, GetFlights,
                departAirport, start, end, arriveAirport, distance);
                PreparedStatement getAirline = getPreparedStatement(conn, GetAirline)) {
            try (ResultSet rs = getFlights.executeQuery()) {
                while (rs.next()) {
                    int flight = rs.getInt(1);
                    long price = rs.getLong(3);
                    String airline;
                    getAirline.setInt(1, rs.getInt(2));
                    try (ResultSet names = getAirline.executeQuery()) {
                        names.next();
                        airline = names.getString("al_name");
                    }
                    flights++;
                    if (cheapestFlight == null || price < cheapest) {
                        cheapest = price;
                        cheapestFlight = flight;
                        cheapestAirline = airline;
                    }
                }
            }
        }
        return new Result(flights, cheapestFlight, cheapestAirline);
    }
}
