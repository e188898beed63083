-- @program 1
-- A seat is taken if it is free, and the ticket is written. Who waits for the row finds it taken.

CREATE TABLE seats (id INT PRIMARY KEY, holder INT NOT NULL);
CREATE TABLE tickets (id INT PRIMARY KEY, seat INT NOT NULL);

CREATE PROCEDURE book(customer INT, seat INT)
BEGIN
  UPDATE seats SET holder = :customer WHERE id = :seat AND holder = 0;
  IF ROW_COUNT() = 1 THEN
    INSERT INTO tickets (id, seat) VALUES (:customer, :seat);
  END IF;
  COMMIT;
END;
