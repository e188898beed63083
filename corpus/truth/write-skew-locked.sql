-- @program 1
-- One doctor must be on call: whoever wants to leave locks all who are.

CREATE TABLE doctors (id INT PRIMARY KEY, on_call INT NOT NULL);

CREATE PROCEDURE leave(me INT, other INT)
BEGIN
  DECLARE is_there INT;
  DECLARE mine INT;
  SELECT on_call INTO :mine FROM doctors WHERE id = :me FOR UPDATE;
  SELECT on_call INTO :is_there FROM doctors WHERE id = :other FOR UPDATE;
  IF :is_there = 1 THEN
    UPDATE doctors SET on_call = 0 WHERE id = :me;
  END IF;
  COMMIT;
END;
