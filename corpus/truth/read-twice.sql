-- @program 1
-- A row is read twice; what is done if the two differ is done only if another call came in between.

CREATE TABLE rates (id INT PRIMARY KEY, v INT NOT NULL);
CREATE TABLE alarms (id INT PRIMARY KEY);

CREATE PROCEDURE compare(alarm INT)
BEGIN
  DECLARE before INT;
  DECLARE after INT;
  SELECT v INTO :before FROM rates WHERE id = 1;
  SELECT v INTO :after FROM rates WHERE id = 1;
  IF :before <> :after THEN
    INSERT INTO alarms (id) VALUES (:alarm);
  END IF;
  COMMIT;
END;

CREATE PROCEDURE change(value INT)
BEGIN
  UPDATE rates SET v = :value WHERE id = 1;
  COMMIT;
END;
