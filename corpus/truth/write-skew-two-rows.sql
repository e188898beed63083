-- @program 1
-- One doctor must be on call: each reads the other's row without a lock.

CREATE TABLE doctors (id INT PRIMARY KEY, on_call INT NOT NULL);

CREATE PROCEDURE leave(me INT, other INT)
BEGIN
  DECLARE is_there INT;
  SELECT on_call INTO :is_there FROM doctors WHERE id = :other;
  IF :is_there = 1 THEN
    UPDATE doctors SET on_call = 0 WHERE id = :me;
  END IF;
  COMMIT;
END;
