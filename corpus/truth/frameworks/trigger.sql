-- MariaDB: what is lost is written by a trigger.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB;
CREATE TABLE deposits (account INT NOT NULL, amount INT NOT NULL, PRIMARY KEY (account, amount)) ENGINE=InnoDB;

DELIMITER //
CREATE TRIGGER add_deposit AFTER INSERT ON deposits FOR EACH ROW
BEGIN
  DECLARE v_balance INT;
  SELECT balance INTO v_balance FROM accounts WHERE id = NEW.account;
  UPDATE accounts SET balance = v_balance + NEW.amount WHERE id = NEW.account;
END //

CREATE PROCEDURE deposit(IN p_id INT, IN p_amount INT)
BEGIN
  START TRANSACTION;
  INSERT INTO deposits (account, amount) VALUES (p_id, p_amount);
  COMMIT;
END //
DELIMITER ;
