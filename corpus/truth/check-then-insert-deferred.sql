-- @program 1
-- A name is looked for and registered if nobody has it; a unique key refuses the second when it commits.

CREATE TABLE users (id INT PRIMARY KEY, name INT NOT NULL, UNIQUE (name) DEFERRABLE INITIALLY DEFERRED);

CREATE PROCEDURE register(id INT, name INT)
BEGIN
  DECLARE taken INT;
  SELECT COUNT(*) INTO :taken FROM users WHERE name = :name;
  IF :taken = 0 THEN
    INSERT INTO users (id, name) VALUES (:id, :name);
  END IF;
  COMMIT;
END;
