-- PostgreSQL: the balance is read by a function in SQL.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE FUNCTION balance_of(p_id INT) RETURNS INT LANGUAGE sql STABLE AS $$
  SELECT balance FROM accounts WHERE id = p_id
$$;

CREATE PROCEDURE deposit(p_id INT, p_amount INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_balance INT;
BEGIN
  v_balance := balance_of(p_id);
  UPDATE accounts SET balance = v_balance + p_amount WHERE id = p_id;
END;
$$;
