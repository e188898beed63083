-- @program 1
-- A long fork: two readers that see two independent writes in different orders.
--
-- raise_first and raise_second each raise one counter. look writes down both. On one copy of the data, one of two
-- readers is never behind in one counter and ahead in the other; where copies may learn of writes in different orders
-- (parallel snapshot isolation), it can be.

CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL);
CREATE TABLE sightings (sighting INT PRIMARY KEY, n1 INT NOT NULL, n2 INT NOT NULL);

INSERT INTO counters (id, n) VALUES (1, 0), (2, 0);

-- @assert each sightings are in one order: SELECT a.sighting, b.sighting AS other FROM sightings a, sightings b WHERE a.n1 < b.n1 AND a.n2 > b.n2

CREATE PROCEDURE raise_first()
BEGIN
  UPDATE counters SET n = n + 1 WHERE id = 1;
  COMMIT;
END;

CREATE PROCEDURE raise_second()
BEGIN
  UPDATE counters SET n = n + 1 WHERE id = 2;
  COMMIT;
END;

CREATE PROCEDURE look(sighting INT)
BEGIN
  DECLARE n1 INT;
  DECLARE n2 INT;
  SELECT n INTO :n1 FROM counters WHERE id = 1;
  SELECT n INTO :n2 FROM counters WHERE id = 2;
  INSERT INTO sightings (sighting, n1, n2) VALUES (:sighting, :n1, :n2);
  COMMIT;
END;
