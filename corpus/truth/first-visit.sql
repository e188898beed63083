-- @program 1
-- A page's counter is made by the first visit; the primary key refuses a second first one.

CREATE TABLE counters (page INT PRIMARY KEY, visits INT NOT NULL);

CREATE PROCEDURE visit(page INT)
BEGIN
  DECLARE known INT;
  SELECT COUNT(*) INTO :known FROM counters WHERE page = :page;
  IF :known = 0 THEN
    INSERT INTO counters (page, visits) VALUES (:page, 1);
  ELSE
    UPDATE counters SET visits = visits + 1 WHERE page = :page;
  END IF;
  COMMIT;
END;
