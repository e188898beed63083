-- Voter: a talent show whose audience votes by telephone, at most twice each.
--
-- A benchmark of VoltDB and H-Store, after a Japanese version of a television show; described in Difallah, Pavlo,
-- Curino, Cudré-Mauroux, "OLTP-Bench", VLDB 2013. The view that counts the votes of each contestant is a column here,
-- since not every system keeps views up to date.

CREATE TABLE contestants (
  contestant_number INT NOT NULL,
  contestant_name VARCHAR(50) NOT NULL,
  total INT NOT NULL,
  PRIMARY KEY (contestant_number)
);

CREATE TABLE area_code_state (
  area_code INT NOT NULL,
  state VARCHAR(2) NOT NULL,
  PRIMARY KEY (area_code)
);

CREATE TABLE votes (
  vote_id BIGINT NOT NULL,
  phone_number BIGINT NOT NULL,
  state VARCHAR(2) NOT NULL,
  contestant_number INT NOT NULL,
  PRIMARY KEY (vote_id),
  FOREIGN KEY (contestant_number) REFERENCES contestants (contestant_number)
);

CREATE INDEX votes_by_phone ON votes (phone_number);

INSERT INTO contestants (contestant_number, contestant_name, total) VALUES
  (1, 'Edwina Burnam', 1), (2, 'Tabatha Gehling', 0), (3, 'Kelly Clauss', 0), (4, 'Jessie Alloway', 0);
INSERT INTO area_code_state (area_code, state) VALUES (212, 'NY'), (213, 'CA'), (312, 'IL'), (617, 'MA');
INSERT INTO votes (vote_id, phone_number, state, contestant_number) VALUES (1, 2125550100, 'NY', 1);

-- @assert each no telephone votes more than twice: SELECT phone_number, COUNT(*) AS votes FROM votes GROUP BY phone_number HAVING COUNT(*) > 2
-- @assert each every vote is counted once: SELECT c.contestant_number, total, COALESCE(v.votes, 0) AS votes FROM contestants c LEFT JOIN (SELECT contestant_number, COUNT(*) AS votes FROM votes GROUP BY contestant_number) v ON v.contestant_number = c.contestant_number WHERE total <> COALESCE(v.votes, 0)
-- @assert each a telephone votes in one state: SELECT a.phone_number FROM votes a, votes b WHERE a.phone_number = b.phone_number AND a.state <> b.state
