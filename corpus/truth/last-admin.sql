-- @program 1
-- The last administrator must stay: two that count two are both removed.

CREATE TABLE users (id INT PRIMARY KEY, is_admin INT NOT NULL);

CREATE PROCEDURE remove_admin(id INT)
BEGIN
  DECLARE admins INT;
  SELECT COUNT(*) INTO :admins FROM users WHERE is_admin = 1;
  IF :admins > 1 THEN
    DELETE FROM users WHERE id = :id;
  END IF;
  COMMIT;
END;
