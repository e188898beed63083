-- @program 1
-- Write skew across two tables: each transaction writes what the other one has looked at.
--
-- A door may be unlocked while its alarm is off, and the alarm switched on while the door is locked. At READ COMMITTED both
-- look first, and both go ahead. If both lock what they look at, one of them dies in a deadlock; if arm begins with a lock
-- of the alarm, which unlock looks at, one waits for the other.

CREATE TABLE doors (id INT PRIMARY KEY, unlocked INT NOT NULL);
CREATE TABLE alarms (id INT PRIMARY KEY, armed INT NOT NULL);

INSERT INTO doors (id, unlocked) VALUES (1, 0), (2, 1);
INSERT INTO alarms (id, armed) VALUES (1, 0), (2, 0);

-- @assert each no alarm is armed while its door is unlocked: SELECT doors.id FROM doors JOIN alarms ON alarms.id = doors.id WHERE unlocked = 1 AND armed = 1

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
