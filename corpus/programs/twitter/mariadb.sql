-- Twitter as stored procedures of MariaDB and MySQL. schema.sql says what it is; postgres.sql says the same in PL/pgSQL.

DELIMITER //

-- GetTweet: one tweet by its key.
CREATE PROCEDURE get_tweet(IN p_id BIGINT, OUT p_uid INT, OUT p_text VARCHAR(140))
BEGIN
  START TRANSACTION;
  SELECT uid, text_body INTO p_uid, p_text FROM tweets WHERE id = p_id;
  COMMIT;
END //

-- GetTweetsFromFollowing: how many tweets those have written whom a user follows, and the newest of them.
CREATE PROCEDURE get_tweets_from_following(IN p_uid INT, OUT p_tweets INT, OUT p_newest BIGINT)
BEGIN
  DECLARE v_followee INT;
  DECLARE v_count INT;
  DECLARE v_newest BIGINT;
  START TRANSACTION;
  SET p_tweets = 0;
  BEGIN
    DECLARE v_done INT DEFAULT 0;
    DECLARE c_following CURSOR FOR
      SELECT f2 FROM follows WHERE f1 = p_uid ORDER BY f2;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_done = 1;
    OPEN c_following;
    FETCH c_following INTO v_followee;
    WHILE v_done = 0 DO
      SELECT COUNT(*), MAX(id) INTO v_count, v_newest FROM tweets WHERE uid = v_followee;
      SET p_tweets = p_tweets + v_count;
      IF v_newest > p_newest OR (p_newest IS NULL AND v_newest IS NOT NULL) THEN
        SET p_newest = v_newest;
      END IF;
      FETCH c_following INTO v_followee;
    END WHILE;
    CLOSE c_following;
  END;
  COMMIT;
END //

-- GetFollowers: how many follow a user, and the one whose name comes first.
CREATE PROCEDURE get_followers(IN p_uid INT, OUT p_count INT, OUT p_first VARCHAR(40))
BEGIN
  DECLARE v_follower INT;
  DECLARE v_name VARCHAR(40);
  START TRANSACTION;
  SET p_count = 0;
  BEGIN
    DECLARE v_done INT DEFAULT 0;
    DECLARE c_followers CURSOR FOR
      SELECT f2 FROM followers WHERE f1 = p_uid ORDER BY f2;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_done = 1;
    OPEN c_followers;
    FETCH c_followers INTO v_follower;
    WHILE v_done = 0 DO
      SELECT name INTO v_name FROM user_profiles WHERE uid = v_follower;
      SET p_count = p_count + 1;
      IF p_first IS NULL OR v_name < p_first THEN
        SET p_first = v_name;
      END IF;
      FETCH c_followers INTO v_follower;
    END WHILE;
    CLOSE c_followers;
  END;
  COMMIT;
END //

-- GetUserTweets: how many tweets a user has written, and the newest.
CREATE PROCEDURE get_user_tweets(IN p_uid INT, OUT p_tweets INT, OUT p_newest BIGINT)
BEGIN
  START TRANSACTION;
  SELECT COUNT(*), MAX(id) INTO p_tweets, p_newest FROM tweets WHERE uid = p_uid;
  COMMIT;
END //

-- InsertTweet: fails if the number is taken, or if there is no such user.
CREATE PROCEDURE insert_tweet(IN p_id BIGINT, IN p_uid INT, IN p_text VARCHAR(140), IN p_now BIGINT)
BEGIN
  START TRANSACTION;
  INSERT INTO tweets (id, uid, text_body, createdate) VALUES (p_id, p_uid, p_text, p_now);
  UPDATE user_profiles SET tweets = tweets + 1 WHERE uid = p_uid;
  COMMIT;
END //

-- Follow (ours): fails if it is so already, or if either does not exist.
CREATE PROCEDURE follow(IN p_uid INT, IN p_followee INT)
BEGIN
  DECLARE v_followers INT;
  START TRANSACTION;
  INSERT INTO follows (f1, f2) VALUES (p_uid, p_followee);
  INSERT INTO followers (f1, f2) VALUES (p_followee, p_uid);
  SELECT followers INTO v_followers FROM user_profiles WHERE uid = p_followee;
  UPDATE user_profiles SET followers = v_followers + 1 WHERE uid = p_followee;
  COMMIT;
END //

-- Unfollow (ours): does nothing if nobody is followed.
CREATE PROCEDURE unfollow(IN p_uid INT, IN p_followee INT)
BEGIN
  DECLARE v_followers INT;
  DECLARE v_follows INT;
  START TRANSACTION;
  SELECT COUNT(*) INTO v_follows FROM follows WHERE f1 = p_uid AND f2 = p_followee;
  IF v_follows > 0 THEN
    DELETE FROM follows WHERE f1 = p_uid AND f2 = p_followee;
    DELETE FROM followers WHERE f1 = p_followee AND f2 = p_uid;
    SELECT followers INTO v_followers FROM user_profiles WHERE uid = p_followee;
    UPDATE user_profiles SET followers = v_followers - 1 WHERE uid = p_followee;
  END IF;
  COMMIT;
END //

DELIMITER ;
