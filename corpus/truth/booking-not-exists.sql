-- @program 1
-- One statement asks for the room and books it; it does not see what another has not committed.

CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL);

CREATE PROCEDURE book(id INT, room INT)
BEGIN
  INSERT INTO bookings (id, room) SELECT :id, :room WHERE NOT EXISTS (SELECT 1 FROM bookings WHERE room = :room);
  COMMIT;
END;
