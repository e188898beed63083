-- @program 1
-- One row after the other is raised by a statement of its own, always in the same order.

CREATE TABLE districts (id INT PRIMARY KEY, taken INT NOT NULL);

CREATE PROCEDURE take(amount INT)
BEGIN
  DECLARE district INT DEFAULT 1;
  WHILE :district <= 3 DO
    UPDATE districts SET taken = taken + :amount WHERE id = :district;
    SET district = :district + 1;
  END WHILE;
  COMMIT;
END;
