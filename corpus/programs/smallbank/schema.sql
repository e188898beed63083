-- SmallBank: a bank with a checking and a savings account for each customer.
--
-- Alomari, Cahill, Fekete, Röhm, "The Cost of Serializability on Platforms That Use Snapshot Isolation", ICDE 2008; the
-- sixth transaction, SendPayment, is that of OLTP-Bench. Amounts are cents.

CREATE TABLE accounts (
  custid BIGINT NOT NULL,
  name VARCHAR(64) NOT NULL,
  PRIMARY KEY (custid),
  UNIQUE (name)
);

CREATE TABLE savings (
  custid BIGINT NOT NULL,
  bal BIGINT NOT NULL,
  PRIMARY KEY (custid),
  FOREIGN KEY (custid) REFERENCES accounts (custid)
);

CREATE TABLE checking (
  custid BIGINT NOT NULL,
  bal BIGINT NOT NULL,
  PRIMARY KEY (custid),
  FOREIGN KEY (custid) REFERENCES accounts (custid)
);

INSERT INTO accounts (custid, name) VALUES (1, 'ada'), (2, 'ben'), (3, 'cleo'), (4, 'dan'), (5, 'eve');
INSERT INTO savings (custid, bal) VALUES (1, 10000), (2, 5000), (3, 0), (4, 250), (5, 100000);
INSERT INTO checking (custid, bal) VALUES (1, 2000), (2, 0), (3, 10000), (4, 300), (5, 500);

-- @assert each every customer has both accounts: SELECT a.custid FROM accounts a LEFT JOIN savings s ON s.custid = a.custid LEFT JOIN checking c ON c.custid = a.custid WHERE s.custid IS NULL OR c.custid IS NULL
-- @assert each no savings account is overdrawn: SELECT custid, bal FROM savings WHERE bal < 0
