-- PL/pgSQL: a balance is read and written back.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(p_id INT, p_amount INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_balance INT;
BEGIN
  SELECT balance INTO v_balance FROM accounts WHERE id = p_id;
  UPDATE accounts SET balance = v_balance + p_amount WHERE id = p_id;
END;
$$;
