-- MariaDB: a loop of twelve rounds comes before a lost update.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB;

DELIMITER //
CREATE PROCEDURE deposit(IN p_id INT, IN p_amount INT)
BEGIN
  DECLARE v_balance INT;
  DECLARE v_i INT DEFAULT 0;
  START TRANSACTION;
  WHILE v_i < 12 DO
    SET v_i = v_i + 1;
  END WHILE;
  SELECT balance INTO v_balance FROM accounts WHERE id = p_id;
  UPDATE accounts SET balance = v_balance + p_amount WHERE id = p_id;
  COMMIT;
END //
DELIMITER ;
