-- @program 1
-- Two reservations that overlap each find the time free.

CREATE TABLE reservations (id INT PRIMARY KEY, starts INT NOT NULL, ends INT NOT NULL);

CREATE PROCEDURE reserve(id INT, starts INT, ends INT)
BEGIN
  DECLARE taken INT;
  SELECT COUNT(*) INTO :taken FROM reservations WHERE starts < :ends AND ends > :starts;
  IF :taken = 0 THEN
    INSERT INTO reservations (id, starts, ends) VALUES (:id, :starts, :ends);
  END IF;
  COMMIT;
END;
