-- PL/pgSQL: a loop of ten rounds comes before a lost update.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(p_id INT, p_amount INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_balance INT;
  v_sum INT := 0;
BEGIN
  FOR i IN 1..10 LOOP
    v_sum := v_sum + i;
  END LOOP;
  SELECT balance INTO v_balance FROM accounts WHERE id = p_id;
  UPDATE accounts SET balance = v_balance + p_amount WHERE id = p_id;
END;
$$;
