-- @program 1
-- Write skew across two tables: unlock looks at the alarm, arm looks at the door.

CREATE TABLE doors (id INT PRIMARY KEY, unlocked INT NOT NULL);
CREATE TABLE alarms (id INT PRIMARY KEY, armed INT NOT NULL);

CREATE PROCEDURE unlock(door INT)
BEGIN
  DECLARE armed INT;
  SELECT armed INTO :armed FROM alarms WHERE id = :door;
  IF :armed = 0 THEN
    UPDATE doors SET unlocked = 1 WHERE id = :door;
  END IF;
  COMMIT;
END;

CREATE PROCEDURE arm(door INT)
BEGIN
  DECLARE unlocked INT;
  SELECT unlocked INTO :unlocked FROM doors WHERE id = :door;
  IF :unlocked = 0 THEN
    UPDATE alarms SET armed = 1 WHERE id = :door;
  END IF;
  COMMIT;
END;
