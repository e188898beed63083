-- 2 of 2 statements understood
CREATE PROCEDURE find(id INT)
BEGIN
  DECLARE choice INT;
  DECLARE owner VARCHAR;
  DECLARE id_2 INT DEFAULT :id;
  select owner INTO KEEP :owner             from accounts where id = :id_2;
  DECLARE sql_found BOOLEAN DEFAULT FOUND();
  IF NOT :sql_found THEN
    RETURN -1;
  END IF;
  DECLARE owner_2 VARCHAR DEFAULT :owner;
  update accounts set owner = 'nobody; or none' where owner = :owner_2;
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
