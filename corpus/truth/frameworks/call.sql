-- MariaDB: the balance is read and written by procedures that another one calls.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB;

DELIMITER //
CREATE PROCEDURE read_balance(IN p_id INT, OUT p_balance INT)
BEGIN
  SELECT balance INTO p_balance FROM accounts WHERE id = p_id;
END //

CREATE PROCEDURE deposit(IN p_id INT, IN p_amount INT)
BEGIN
  DECLARE v_balance INT;
  START TRANSACTION;
  CALL read_balance(p_id, v_balance);
  UPDATE accounts SET balance = v_balance + p_amount WHERE id = p_id;
  COMMIT;
END //
DELIMITER ;
