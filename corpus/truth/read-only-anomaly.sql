-- @program 1
-- Fekete, O'Neil and O'Neil (2004): with snapshots, a report sees a state that no order of the two others has.

CREATE TABLE checking (id INT PRIMARY KEY, balance INT NOT NULL);
CREATE TABLE savings (id INT PRIMARY KEY, balance INT NOT NULL);
CREATE TABLE reports (id INT PRIMARY KEY, total INT NOT NULL);

CREATE PROCEDURE save(amount INT)
BEGIN
  UPDATE savings SET balance = balance + :amount WHERE id = 1;
  COMMIT;
END;

CREATE PROCEDURE withdraw(amount INT)
BEGIN
  DECLARE one INT;
  DECLARE other INT;
  SELECT balance INTO :one FROM checking WHERE id = 1;
  SELECT balance INTO :other FROM savings WHERE id = 1;
  IF :one + :other >= :amount THEN
    UPDATE checking SET balance = :one - :amount WHERE id = 1;
  ELSE
    UPDATE checking SET balance = :one - :amount - 1 WHERE id = 1;
  END IF;
  COMMIT;
END;

CREATE PROCEDURE report(id INT)
BEGIN
  DECLARE one INT;
  DECLARE other INT;
  SELECT balance INTO :one FROM checking WHERE id = 1;
  SELECT balance INTO :other FROM savings WHERE id = 1;
  INSERT INTO reports (id, total) VALUES (:id, :one + :other);
  COMMIT;
END;
