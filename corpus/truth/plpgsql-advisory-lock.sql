-- PL/pgSQL: an advisory lock of the transaction comes before the check.

CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL);

CREATE PROCEDURE book(p_id INT, p_room INT)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(p_room);
  IF NOT EXISTS (SELECT 1 FROM bookings WHERE room = p_room) THEN
    INSERT INTO bookings (id, room) VALUES (p_id, p_room);
  END IF;
END;
$$;
