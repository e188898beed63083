-- @program 1
-- A room is booked if nobody has it then: two who ask at once both find it free.
--
-- One statement asks and books, and yet that is not enough: at READ COMMITTED and at REPEATABLE READ, PostgreSQL shows
-- each of them the rows as they were before the other one came.

CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL, starts INT NOT NULL, ends INT NOT NULL);

INSERT INTO bookings (id, room, starts, ends) VALUES (1001, 1, 10, 12), (1002, 2, 9, 17);

-- @assert each a room is given once: SELECT a.id, b.id FROM bookings a JOIN bookings b ON a.room = b.room AND a.id < b.id WHERE a.starts < b.ends AND b.starts < a.ends

CREATE PROCEDURE book(id INT, room INT, starts INT, ends INT)
BEGIN
  INSERT INTO bookings (id, room, starts, ends)
  SELECT :id, :room, :starts, :ends
  WHERE :starts < :ends
    AND NOT EXISTS (SELECT 1 FROM bookings WHERE room = :room AND starts < :ends AND ends > :starts);
  COMMIT;
END;
