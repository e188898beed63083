-- @program 1
-- One row after the other is read and written back: a delivery over all districts.

CREATE TABLE districts (id INT PRIMARY KEY, taken INT NOT NULL);

CREATE PROCEDURE take(amount INT)
BEGIN
  DECLARE district INT DEFAULT 1;
  DECLARE taken INT;
  WHILE :district <= 3 DO
    SELECT taken INTO :taken FROM districts WHERE id = :district;
    UPDATE districts SET taken = :taken + :amount WHERE id = :district;
    SET district = :district + 1;
  END WHILE;
  COMMIT;
END;
