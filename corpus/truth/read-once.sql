-- @program 1
-- A row is read once.

CREATE TABLE rates (id INT PRIMARY KEY, v INT NOT NULL);
CREATE TABLE alarms (id INT PRIMARY KEY);

CREATE PROCEDURE compare(alarm INT, expected INT)
BEGIN
  DECLARE now INT;
  SELECT v INTO :now FROM rates WHERE id = 1;
  IF :now <> :expected THEN
    INSERT INTO alarms (id) VALUES (:alarm);
  END IF;
  COMMIT;
END;

CREATE PROCEDURE change(value INT)
BEGIN
  UPDATE rates SET v = :value WHERE id = 1;
  COMMIT;
END;
