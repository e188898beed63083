-- @program 1
-- Calls of different rows never meet: each writes only the row that it is given and reads only that one, under a lock.

CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL);
CREATE TABLE changes (id INT PRIMARY KEY, counter INT NOT NULL, n INT NOT NULL);

CREATE PROCEDURE raise(change INT, counter INT)
BEGIN
  DECLARE n INT;
  SELECT n INTO :n FROM counters WHERE id = :counter FOR UPDATE;
  UPDATE counters SET n = :n + 1 WHERE id = :counter;
  INSERT INTO changes (id, counter, n) VALUES (:change, :counter, :n + 1);
  COMMIT;
END;
