-- @program 1
-- Expenses of a project must not exceed a hundred: two that add them up at once both fit.

CREATE TABLE expenses (id INT PRIMARY KEY, project INT NOT NULL, amount INT NOT NULL);

CREATE PROCEDURE spend(id INT, project INT, amount INT)
BEGIN
  DECLARE spent INT;
  SELECT COALESCE(SUM(amount), 0) INTO :spent FROM expenses WHERE project = :project;
  IF :spent + :amount <= 100 THEN
    INSERT INTO expenses (id, project, amount) VALUES (:id, :project, :amount);
  END IF;
  COMMIT;
END;
