-- @program 1
-- MariaDB: a lock by name is held around the transaction.

CREATE TABLE bookings (id INT PRIMARY KEY, room INT NOT NULL);

CREATE PROCEDURE book(id INT, room INT) AUTOCOMMIT
BEGIN
  DECLARE held INT;
  DECLARE taken INT;
  SELECT GET_LOCK('rooms', 10) INTO :held;
  START TRANSACTION;
  SELECT COUNT(*) INTO :taken FROM bookings WHERE room = :room;
  IF :taken = 0 THEN
    INSERT INTO bookings (id, room) VALUES (:id, :room);
  END IF;
  COMMIT;
  SELECT RELEASE_LOCK('rooms') INTO :held;
END;
