import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

@Repository
public class JdbcTemplateAccounts {
    private final JdbcTemplate jdbc;

    public JdbcTemplateAccounts(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Transactional
    public void deposit(int id, int amount) {
        Integer balance = jdbc.queryForObject("SELECT balance FROM accounts WHERE id = ?", Integer.class, id);
        jdbc.update("UPDATE accounts SET balance = ? WHERE id = ?", balance + amount, id);
    }
}
