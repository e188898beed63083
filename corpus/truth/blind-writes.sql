-- @program 1
-- Two rows are written without being read, always in the same order.

CREATE TABLE settings (id INT PRIMARY KEY, v INT NOT NULL);

CREATE PROCEDURE put_both(value INT)
BEGIN
  UPDATE settings SET v = :value WHERE id = 1;
  UPDATE settings SET v = :value WHERE id = 2;
  COMMIT;
END;
