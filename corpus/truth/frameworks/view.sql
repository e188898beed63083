-- PostgreSQL: the balance is read through a view.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
CREATE VIEW account_balances AS SELECT id AS account, balance AS amount FROM accounts;

CREATE PROCEDURE deposit(p_id INT, p_amount INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_balance INT;
BEGIN
  SELECT amount INTO v_balance FROM account_balances WHERE account = p_id;
  UPDATE accounts SET balance = v_balance + p_amount WHERE id = p_id;
END;
$$;
