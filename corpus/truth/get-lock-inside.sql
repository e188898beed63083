-- @program 1
-- MariaDB: a lock by name is given back before the transaction commits, so the next one does not see its row.

CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL);

CREATE PROCEDURE book(id INT, room INT) AUTOCOMMIT
BEGIN
  DECLARE held INT;
  DECLARE taken INT;
  START TRANSACTION;
  SELECT GET_LOCK('rooms', 10) INTO :held;
  SELECT COUNT(*) INTO :taken FROM bookings WHERE room = :room;
  IF :taken = 0 THEN
    INSERT INTO bookings (id, room) VALUES (:id, :room);
  END IF;
  SELECT RELEASE_LOCK('rooms') INTO :held;
  COMMIT;
END;
