-- @program 1
-- Expenses of a project must not exceed a hundred: the sum is kept in a row, which a conditional update raises.

CREATE TABLE projects (id INT PRIMARY KEY, spent INT NOT NULL);
CREATE TABLE expenses (id INT PRIMARY KEY, project INT NOT NULL, amount INT NOT NULL);

CREATE PROCEDURE spend(id INT, project INT, amount INT)
BEGIN
  UPDATE projects SET spent = spent + :amount WHERE id = :project AND spent + :amount <= 100;
  IF ROW_COUNT() = 1 THEN
    INSERT INTO expenses (id, project, amount) VALUES (:id, :project, :amount);
  END IF;
  COMMIT;
END;
