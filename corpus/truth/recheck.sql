-- @program 1
-- Hits are counted, and pages with ten hits removed. PostgreSQL's READ COMMITTED chooses the pages to be removed before
-- it waits for the counting, and looks at each of them again afterwards: none is removed, and both orders remove one.

CREATE TABLE pages (id INT PRIMARY KEY, hits INT NOT NULL);

CREATE PROCEDURE count_hits()
BEGIN
  UPDATE pages SET hits = hits + 1;
  COMMIT;
END;

CREATE PROCEDURE remove_pages(hits INT)
BEGIN
  DELETE FROM pages WHERE hits = :hits;
  COMMIT;
END;
