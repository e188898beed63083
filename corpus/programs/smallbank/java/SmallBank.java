package smallbank;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A bank with a checking and a savings account for each customer: one method for each transaction. */
public class SmallBank {

    private final Connection connection;

    public SmallBank(Connection connection) {
        this.connection = connection;
    }

    /** What a customer has. */
    public long balance(String name) throws SQLException {
        connection.setAutoCommit(false);
        Long custid = findCustomer(name);
        if (custid == null) {
            connection.rollback();
            throw new IllegalArgumentException("no such customer");
        }
        long savings = readSavings(custid);
        long checking = readChecking(custid);
        connection.commit();
        return savings + checking;
    }

    /** Money comes to the checking account. */
    public void depositChecking(String name, long amount) throws SQLException {
        connection.setAutoCommit(false);
        Long custid = findCustomer(name);
        if (custid == null || amount < 0) {
            connection.rollback();
            throw new IllegalArgumentException("no such customer, or a negative amount");
        }
        addToChecking(custid, amount);
        connection.commit();
    }

    /** Money comes to or is taken from the savings account, which must not be overdrawn. */
    public void transactSavings(String name, long amount) throws SQLException {
        connection.setAutoCommit(false);
        Long custid = findCustomer(name);
        if (custid == null) {
            connection.rollback();
            throw new IllegalArgumentException("no such customer");
        }
        long savings = readSavings(custid);
        if (savings + amount < 0) {
            connection.rollback();
            throw new IllegalStateException("the savings account would be overdrawn");
        }
        try (PreparedStatement update = connection.prepareStatement("UPDATE savings SET bal = ? WHERE custid = ?")) {
            update.setLong(1, savings + amount);
            update.setLong(2, custid);
            update.executeUpdate();
        }
        connection.commit();
    }

    /** Everything that one customer has comes to the checking account of another. */
    public void amalgamate(String from, String to) throws SQLException {
        connection.setAutoCommit(false);
        Long fromId = findCustomer(from);
        Long toId = findCustomer(to);
        if (fromId == null || toId == null || fromId.equals(toId)) {
            connection.rollback();
            throw new IllegalArgumentException("two customers are needed");
        }
        long savings = readSavings(fromId);
        long checking = readChecking(fromId);
        try (PreparedStatement clear = connection.prepareStatement("UPDATE savings SET bal = 0 WHERE custid = ?")) {
            clear.setLong(1, fromId);
            clear.executeUpdate();
        }
        try (PreparedStatement clear = connection.prepareStatement("UPDATE checking SET bal = 0 WHERE custid = ?")) {
            clear.setLong(1, fromId);
            clear.executeUpdate();
        }
        addToChecking(toId, savings + checking);
        connection.commit();
    }

    /** A check is paid from the checking account; if both accounts together do not cover it, it costs one more. */
    public long writeCheck(String name, long amount) throws SQLException {
        connection.setAutoCommit(false);
        Long custid = findCustomer(name);
        if (custid == null) {
            connection.rollback();
            throw new IllegalArgumentException("no such customer");
        }
        long savings = readSavings(custid);
        long checking = readChecking(custid);
        long penalty = 0;
        if (savings + checking < amount) {
            penalty = 1;
        }
        String sql = "UPDATE checking SET bal = bal - ? - ? WHERE custid = ?";
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setLong(1, amount);
            update.setLong(2, penalty);
            update.setLong(3, custid);
            update.executeUpdate();
        }
        connection.commit();
        return penalty;
    }

    /** Money goes from one checking account to another, if there is enough. */
    public void sendPayment(String from, String to, long amount) throws SQLException {
        connection.setAutoCommit(false);
        Long fromId = findCustomer(from);
        Long toId = findCustomer(to);
        if (fromId == null || toId == null) {
            connection.rollback();
            throw new IllegalArgumentException("two customers are needed");
        }
        if (readChecking(fromId) < amount) {
            connection.rollback();
            throw new IllegalStateException("the checking account does not cover it");
        }
        String sql = "UPDATE checking SET bal = bal - ? WHERE custid = ?";
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setLong(1, amount);
            update.setLong(2, fromId);
            update.executeUpdate();
        }
        addToChecking(toId, amount);
        connection.commit();
    }

    /** The number of the customer with that name, or null. */
    private Long findCustomer(String name) throws SQLException {
        String sql = "SELECT custid FROM accounts WHERE name = ?";
        try (PreparedStatement query = connection.prepareStatement(sql)) {
            query.setString(1, name);
            try (ResultSet rows = query.executeQuery()) {
                if (rows.next()) {
                    return rows.getLong("custid");
                }
                return null;
            }
        }
    }

    private long readSavings(long custid) throws SQLException {
        String sql = "SELECT bal FROM savings WHERE custid = ?";
        try (PreparedStatement query = connection.prepareStatement(sql)) {
            query.setLong(1, custid);
            try (ResultSet rows = query.executeQuery()) {
                rows.next();
                return rows.getLong("bal");
            }
        }
    }

    private long readChecking(long custid) throws SQLException {
        String sql = "SELECT bal FROM checking WHERE custid = ?";
        try (PreparedStatement query = connection.prepareStatement(sql)) {
            query.setLong(1, custid);
            try (ResultSet rows = query.executeQuery()) {
                rows.next();
                return rows.getLong("bal");
            }
        }
    }

    private void addToChecking(long custid, long amount) throws SQLException {
        String sql = "UPDATE checking SET bal = bal + ? WHERE custid = ?";
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setLong(1, amount);
            update.setLong(2, custid);
            update.executeUpdate();
        }
    }
}
