-- @program 1
-- A dirty write: two settings that belong together, written by two transactions each.
--
-- choose gives both rows the same value. Where a transaction may overwrite what another has not committed, each of two
-- calls can win one row.

CREATE TABLE settings (id INT PRIMARY KEY, choice INT NOT NULL);

INSERT INTO settings (id, choice) VALUES (1, 0), (2, 0);

-- @assert each both settings agree: SELECT a.choice, b.choice AS other FROM settings a, settings b WHERE a.id = 1 AND b.id = 2 AND a.choice <> b.choice

CREATE PROCEDURE choose(choice INT)
BEGIN
  UPDATE settings SET choice = :choice WHERE id = 1;
  UPDATE settings SET choice = :choice WHERE id = 2;
  COMMIT;
END;
