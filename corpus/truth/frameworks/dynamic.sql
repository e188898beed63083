-- PostgreSQL: the balance is read and written by texts that are put together.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(p_table TEXT, p_id INT, p_amount INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_balance INT;
BEGIN
  EXECUTE format('SELECT balance FROM %I WHERE id = $1', p_table) INTO v_balance USING p_id;
  EXECUTE format('UPDATE %I SET balance = $1 WHERE id = $2', p_table) USING v_balance + p_amount, p_id;
END;
$$;
