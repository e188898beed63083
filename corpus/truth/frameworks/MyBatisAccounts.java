import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.springframework.transaction.annotation.Transactional;

public class MyBatisAccounts {
    @Mapper
    public interface AccountMapper {
        @Select("SELECT balance FROM accounts WHERE id = #{id}")
        int balance(@Param("id") int id);

        @Update("UPDATE accounts SET balance = #{balance} WHERE id = #{id}")
        int setBalance(@Param("id") int id, @Param("balance") int balance);
    }

    private final AccountMapper mapper;

    public MyBatisAccounts(AccountMapper mapper) {
        this.mapper = mapper;
    }

    @Transactional
    public void deposit(int id, int amount) {
        mapper.setBalance(id, mapper.balance(id) + amount);
    }
}
