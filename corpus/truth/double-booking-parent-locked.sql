-- @program 1
-- The room is locked before its bookings are counted. PostgreSQL's REPEATABLE READ took its snapshot before it waited.

CREATE TABLE rooms (id INT PRIMARY KEY, beds INT NOT NULL);
CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL, day INT NOT NULL);

CREATE PROCEDURE book(id INT, room INT, day INT)
BEGIN
  DECLARE beds INT;
  DECLARE taken INT;
  SELECT beds INTO :beds FROM rooms WHERE id = :room FOR UPDATE;
  SELECT COUNT(*) INTO :taken FROM bookings WHERE room = :room AND day = :day;
  IF :taken = 0 THEN
    INSERT INTO bookings (id, room, day) VALUES (:id, :room, :day);
  END IF;
  COMMIT;
END;
