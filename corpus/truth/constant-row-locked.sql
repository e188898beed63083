-- @program 1
-- A constant row of another table is locked first. PostgreSQL's REPEATABLE READ takes its snapshot before it waits for
-- the lock, and reads from it afterwards.

CREATE TABLE doctors (id INT PRIMARY KEY, on_call INT NOT NULL);
CREATE TABLE locks (id INT PRIMARY KEY, holder INT NOT NULL);

CREATE PROCEDURE leave(me INT)
BEGIN
  DECLARE held INT;
  DECLARE others INT;
  SELECT id INTO :held FROM locks WHERE id = 1 FOR UPDATE;
  SELECT COUNT(*) INTO :others FROM doctors WHERE on_call = 1 AND id <> :me;
  IF :others > 0 THEN
    UPDATE doctors SET on_call = 0 WHERE id = :me;
  END IF;
  COMMIT;
END;
