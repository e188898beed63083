-- MariaDB: the row is locked, read and written back.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB;

DELIMITER //
CREATE PROCEDURE deposit(IN p_id INT, IN p_amount INT)
BEGIN
  DECLARE v_balance INT;
  START TRANSACTION;
  SELECT balance INTO v_balance FROM accounts WHERE id = p_id FOR UPDATE;
  UPDATE accounts SET balance = v_balance + p_amount WHERE id = p_id;
  COMMIT;
END //
DELIMITER ;
