-- @program 1
-- Each of two procedures locks what it looks at. One of them may die in a deadlock.

CREATE TABLE doors (id INT PRIMARY KEY, unlocked INT NOT NULL);
CREATE TABLE alarms (id INT PRIMARY KEY, armed INT NOT NULL);

CREATE PROCEDURE unlock(door INT)
BEGIN
  DECLARE armed INT;
  SELECT armed INTO :armed FROM alarms WHERE id = :door FOR UPDATE;
  IF :armed = 0 THEN
    UPDATE doors SET unlocked = 1 WHERE id = :door;
  END IF;
  COMMIT;
END;

CREATE PROCEDURE arm(door INT)
BEGIN
  DECLARE unlocked INT;
  SELECT unlocked INTO :unlocked FROM doors WHERE id = :door FOR UPDATE;
  IF :unlocked = 0 THEN
    UPDATE alarms SET armed = 1 WHERE id = :door;
  END IF;
  COMMIT;
END;
