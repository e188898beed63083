-- Twitter: short messages, and who follows whom.
--
-- The five transactions of the workload of that name in Difallah, Pavlo, Curino, Cudré-Mauroux, "OLTP-Bench", VLDB
-- 2013, which only reads who follows whom. Follow and Unfollow are ours: they change what the profiles count.

CREATE TABLE user_profiles (
  uid INT NOT NULL,
  name VARCHAR(40) NOT NULL,
  followers INT NOT NULL,
  tweets INT NOT NULL,
  PRIMARY KEY (uid)
);

CREATE TABLE follows (
  f1 INT NOT NULL,
  f2 INT NOT NULL,
  PRIMARY KEY (f1, f2),
  FOREIGN KEY (f1) REFERENCES user_profiles (uid),
  FOREIGN KEY (f2) REFERENCES user_profiles (uid)
);

CREATE TABLE followers (
  f1 INT NOT NULL,
  f2 INT NOT NULL,
  PRIMARY KEY (f1, f2),
  FOREIGN KEY (f1) REFERENCES user_profiles (uid),
  FOREIGN KEY (f2) REFERENCES user_profiles (uid)
);

CREATE TABLE tweets (
  id BIGINT NOT NULL,
  uid INT NOT NULL,
  text_body VARCHAR(140) NOT NULL,
  createdate BIGINT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY (uid) REFERENCES user_profiles (uid)
);

INSERT INTO user_profiles (uid, name, followers, tweets) VALUES
  (1, 'anna', 2, 2), (2, 'bert', 1, 1), (3, 'carl', 0, 0), (4, 'dora', 1, 1), (5, 'emil', 0, 0);
INSERT INTO follows (f1, f2) VALUES (2, 1), (3, 1), (1, 2), (3, 4);
INSERT INTO followers (f1, f2) VALUES (1, 2), (1, 3), (2, 1), (4, 3);
INSERT INTO tweets (id, uid, text_body, createdate) VALUES
  (1, 1, 'good morning', 100), (2, 2, 'not yet', 101), (3, 1, 'now?', 102), (4, 4, 'it''s late', 103);

-- @assert each followers are those who follow: SELECT a.f1, a.f2 FROM follows a LEFT JOIN followers b ON b.f1 = a.f2 AND b.f2 = a.f1 WHERE b.f1 IS NULL UNION ALL SELECT b.f2, b.f1 FROM followers b LEFT JOIN follows a ON a.f1 = b.f2 AND a.f2 = b.f1 WHERE a.f1 IS NULL
-- @assert each profiles count their followers: SELECT u.uid, u.followers, COALESCE(f.present, 0) AS present FROM user_profiles u LEFT JOIN (SELECT f1, COUNT(*) AS present FROM followers GROUP BY f1) f ON f.f1 = u.uid WHERE u.followers <> COALESCE(f.present, 0)
-- @assert each profiles count their tweets: SELECT u.uid, u.tweets, COALESCE(t.present, 0) AS present FROM user_profiles u LEFT JOIN (SELECT uid, COUNT(*) AS present FROM tweets GROUP BY uid) t ON t.uid = u.uid WHERE u.tweets <> COALESCE(t.present, 0)
