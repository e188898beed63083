-- SmallBank as procedures in PL/pgSQL. schema.sql says what it is; mariadb.sql says the same as stored procedures.

-- Balance: what a customer has.
CREATE PROCEDURE balance(IN p_name VARCHAR(64), OUT p_total BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_custid BIGINT;
  v_savings BIGINT;
  v_checking BIGINT;
BEGIN
  SELECT custid INTO v_custid FROM accounts WHERE name = p_name;
  IF v_custid IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'no such customer';
  END IF;
  SELECT bal INTO v_savings FROM savings WHERE custid = v_custid;
  SELECT bal INTO v_checking FROM checking WHERE custid = v_custid;
  p_total := v_savings + v_checking;
  COMMIT;
END;
$$;

-- DepositChecking: money comes to the checking account.
CREATE PROCEDURE deposit_checking(IN p_name VARCHAR(64), IN p_amount BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_custid BIGINT;
BEGIN
  SELECT custid INTO v_custid FROM accounts WHERE name = p_name;
  IF v_custid IS NULL OR p_amount < 0 THEN
    ROLLBACK;
    RAISE EXCEPTION 'no such customer, or a negative amount';
  END IF;
  UPDATE checking SET bal = bal + p_amount WHERE custid = v_custid;
  COMMIT;
END;
$$;

-- TransactSavings: money comes to or is taken from the savings account, which must not be overdrawn.
CREATE PROCEDURE transact_savings(IN p_name VARCHAR(64), IN p_amount BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_custid BIGINT;
  v_savings BIGINT;
BEGIN
  SELECT custid INTO v_custid FROM accounts WHERE name = p_name;
  IF v_custid IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'no such customer';
  END IF;
  SELECT bal INTO v_savings FROM savings WHERE custid = v_custid;
  IF v_savings + p_amount < 0 THEN
    ROLLBACK;
    RAISE EXCEPTION 'the savings account would be overdrawn';
  END IF;
  UPDATE savings SET bal = v_savings + p_amount WHERE custid = v_custid;
  COMMIT;
END;
$$;

-- Amalgamate: everything that one customer has comes to the checking account of another.
CREATE PROCEDURE amalgamate(IN p_from VARCHAR(64), IN p_to VARCHAR(64))
LANGUAGE plpgsql AS $$
DECLARE
  v_from BIGINT;
  v_to BIGINT;
  v_savings BIGINT;
  v_checking BIGINT;
BEGIN
  SELECT custid INTO v_from FROM accounts WHERE name = p_from;
  SELECT custid INTO v_to FROM accounts WHERE name = p_to;
  IF v_from IS NULL OR v_to IS NULL OR v_from = v_to THEN
    ROLLBACK;
    RAISE EXCEPTION 'two customers are needed';
  END IF;
  SELECT bal INTO v_savings FROM savings WHERE custid = v_from;
  SELECT bal INTO v_checking FROM checking WHERE custid = v_from;
  UPDATE savings SET bal = 0 WHERE custid = v_from;
  UPDATE checking SET bal = 0 WHERE custid = v_from;
  UPDATE checking SET bal = bal + v_savings + v_checking WHERE custid = v_to;
  COMMIT;
END;
$$;

-- WriteCheck: a check is paid from the checking account; if both accounts together do not cover it, it costs one more.
CREATE PROCEDURE write_check(IN p_name VARCHAR(64), IN p_amount BIGINT, OUT p_penalty BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_custid BIGINT;
  v_savings BIGINT;
  v_checking BIGINT;
BEGIN
  SELECT custid INTO v_custid FROM accounts WHERE name = p_name;
  IF v_custid IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'no such customer';
  END IF;
  SELECT bal INTO v_savings FROM savings WHERE custid = v_custid;
  SELECT bal INTO v_checking FROM checking WHERE custid = v_custid;
  p_penalty := 0;
  IF v_savings + v_checking < p_amount THEN
    p_penalty := 1;
  END IF;
  UPDATE checking SET bal = bal - p_amount - p_penalty WHERE custid = v_custid;
  COMMIT;
END;
$$;

-- SendPayment: money goes from one checking account to another, if there is enough.
CREATE PROCEDURE send_payment(IN p_from VARCHAR(64), IN p_to VARCHAR(64), IN p_amount BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_from BIGINT;
  v_to BIGINT;
  v_checking BIGINT;
BEGIN
  SELECT custid INTO v_from FROM accounts WHERE name = p_from;
  SELECT custid INTO v_to FROM accounts WHERE name = p_to;
  IF v_from IS NULL OR v_to IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'two customers are needed';
  END IF;
  SELECT bal INTO v_checking FROM checking WHERE custid = v_from;
  IF v_checking < p_amount THEN
    ROLLBACK;
    RAISE EXCEPTION 'the checking account does not cover it';
  END IF;
  UPDATE checking SET bal = bal - p_amount WHERE custid = v_from;
  UPDATE checking SET bal = bal + p_amount WHERE custid = v_to;
  COMMIT;
END;
$$;
