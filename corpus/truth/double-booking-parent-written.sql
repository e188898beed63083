-- @program 1
-- The room is written before its bookings are counted.

CREATE TABLE rooms (id INT PRIMARY KEY, asked INT NOT NULL);
CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL, day INT NOT NULL);

CREATE PROCEDURE book(id INT, room INT, day INT)
BEGIN
  DECLARE taken INT;
  UPDATE rooms SET asked = asked + 1 WHERE id = :room;
  SELECT COUNT(*) INTO :taken FROM bookings WHERE room = :room AND day = :day;
  IF :taken = 0 THEN
    INSERT INTO bookings (id, room, day) VALUES (:id, :room, :day);
  END IF;
  COMMIT;
END;
