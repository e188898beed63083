-- @program 1
-- PostgreSQL: an advisory lock of the transaction comes before the check. At REPEATABLE READ the snapshot is older than
-- the lock.

CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL);

CREATE PROCEDURE book(id INT, room INT)
BEGIN
  DECLARE taken INT;
  SELECT pg_advisory_xact_lock(:room);
  SELECT COUNT(*) INTO :taken FROM bookings WHERE room = :room;
  IF :taken = 0 THEN
    INSERT INTO bookings (id, room) VALUES (:id, :room);
  END IF;
  COMMIT;
END;
