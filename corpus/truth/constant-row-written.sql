-- @program 1
-- A constant row of another table is written first: that orders all calls, at every level.

CREATE TABLE doctors (id INT PRIMARY KEY, on_call INT NOT NULL);
CREATE TABLE locks (id INT PRIMARY KEY, taken INT NOT NULL);

CREATE PROCEDURE leave(me INT)
BEGIN
  DECLARE others INT;
  UPDATE locks SET taken = taken + 1 WHERE id = 1;
  SELECT COUNT(*) INTO :others FROM doctors WHERE on_call = 1 AND id <> :me;
  IF :others > 0 THEN
    UPDATE doctors SET on_call = 0 WHERE id = :me;
  END IF;
  COMMIT;
END;
