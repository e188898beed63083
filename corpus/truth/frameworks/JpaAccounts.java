import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import org.springframework.transaction.annotation.Transactional;

public class JpaAccounts {
    @Entity(name = "accounts")
    public static class Account {
        @Id
        private int id;
        private int balance;

        public void add(int amount) {
            balance = balance + amount;
        }
    }

    @PersistenceContext
    private EntityManager entities;

    @Transactional
    public void deposit(int id, int amount) {
        Account account = entities.find(Account.class, id);
        account.add(amount);
    }
}
