-- 2 of 2 statements understood
CREATE PROCEDURE find(id INT)
BEGIN
  DECLARE choice INT;
  DECLARE owner VARCHAR(20);
  select owner INTO KEEP :owner from accounts where id = :id;
  DECLARE sql_found BOOLEAN DEFAULT FOUND();
  IF NOT :sql_found THEN
    RETURN -1;
  END IF;
  update accounts set owner = 'nobody; or none' where owner = :owner;
  SET sql_found = FOUND();
  IF :sql_found THEN
    COMMIT;
    SET sql_found = TRUE;
  ELSE
    ROLLBACK;
    SET sql_found = TRUE;
  END IF;
  IF :sql_found THEN
    SET choice = 0;
  ELSE
    SET choice = 100;
  END IF;
  RETURN :choice;
END;
