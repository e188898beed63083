-- @program 1
-- One doctor must be on call: each of two looks at the other, and both leave.

CREATE TABLE doctors (id INT PRIMARY KEY, on_call INT NOT NULL);

CREATE PROCEDURE leave(me INT)
BEGIN
  DECLARE others INT;
  SELECT COUNT(*) INTO :others FROM doctors WHERE on_call = 1 AND id <> :me;
  IF :others > 0 THEN
    UPDATE doctors SET on_call = 0 WHERE id = :me;
  END IF;
  COMMIT;
END;
