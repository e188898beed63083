-- @program 1
-- A room is booked if nobody has it on that day: two who ask at once both get it.

CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL, day INT NOT NULL);

CREATE PROCEDURE book(id INT, room INT, day INT)
BEGIN
  DECLARE taken INT;
  SELECT COUNT(*) INTO :taken FROM bookings WHERE room = :room AND day = :day;
  IF :taken = 0 THEN
    INSERT INTO bookings (id, room, day) VALUES (:id, :room, :day);
  END IF;
  COMMIT;
END;
