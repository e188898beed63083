-- Twitter as procedures in PL/pgSQL. schema.sql says what it is; mariadb.sql says the same as stored procedures.

-- GetTweet: one tweet by its key.
CREATE PROCEDURE get_tweet(IN p_id BIGINT, OUT p_uid INT, OUT p_text VARCHAR(140))
LANGUAGE plpgsql AS $$
BEGIN
  SELECT uid, text_body INTO p_uid, p_text FROM tweets WHERE id = p_id;
  COMMIT;
END;
$$;

-- GetTweetsFromFollowing: how many tweets those have written whom a user follows, and the newest of them.
CREATE PROCEDURE get_tweets_from_following(IN p_uid INT, OUT p_tweets INT, OUT p_newest BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_followee INT;
  v_count INT;
  v_newest BIGINT;
BEGIN
  p_tweets := 0;
  FOR v_followee IN
    SELECT f2 FROM follows WHERE f1 = p_uid ORDER BY f2
  LOOP
    SELECT COUNT(*), MAX(id) INTO v_count, v_newest FROM tweets WHERE uid = v_followee;
    p_tweets := p_tweets + v_count;
    IF v_newest > p_newest OR (p_newest IS NULL AND v_newest IS NOT NULL) THEN
      p_newest := v_newest;
    END IF;
  END LOOP;
  COMMIT;
END;
$$;

-- GetFollowers: how many follow a user, and the one whose name comes first.
CREATE PROCEDURE get_followers(IN p_uid INT, OUT p_count INT, OUT p_first VARCHAR(40))
LANGUAGE plpgsql AS $$
DECLARE
  v_follower INT;
  v_name VARCHAR(40);
BEGIN
  p_count := 0;
  FOR v_follower IN
    SELECT f2 FROM followers WHERE f1 = p_uid ORDER BY f2
  LOOP
    SELECT name INTO v_name FROM user_profiles WHERE uid = v_follower;
    p_count := p_count + 1;
    IF p_first IS NULL OR v_name < p_first THEN
      p_first := v_name;
    END IF;
  END LOOP;
  COMMIT;
END;
$$;

-- GetUserTweets: how many tweets a user has written, and the newest.
CREATE PROCEDURE get_user_tweets(IN p_uid INT, OUT p_tweets INT, OUT p_newest BIGINT)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT COUNT(*), MAX(id) INTO p_tweets, p_newest FROM tweets WHERE uid = p_uid;
  COMMIT;
END;
$$;

-- InsertTweet: fails if the number is taken, or if there is no such user.
CREATE PROCEDURE insert_tweet(IN p_id BIGINT, IN p_uid INT, IN p_text VARCHAR(140), IN p_now BIGINT)
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tweets (id, uid, text_body, createdate) VALUES (p_id, p_uid, p_text, p_now);
  UPDATE user_profiles SET tweets = tweets + 1 WHERE uid = p_uid;
  COMMIT;
END;
$$;

-- Follow (ours): fails if it is so already, or if either does not exist.
CREATE PROCEDURE follow(IN p_uid INT, IN p_followee INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_followers INT;
BEGIN
  INSERT INTO follows (f1, f2) VALUES (p_uid, p_followee);
  INSERT INTO followers (f1, f2) VALUES (p_followee, p_uid);
  SELECT followers INTO v_followers FROM user_profiles WHERE uid = p_followee;
  UPDATE user_profiles SET followers = v_followers + 1 WHERE uid = p_followee;
  COMMIT;
END;
$$;

-- Unfollow (ours): does nothing if nobody is followed.
CREATE PROCEDURE unfollow(IN p_uid INT, IN p_followee INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_followers INT;
  v_follows INT;
BEGIN
  SELECT COUNT(*) INTO v_follows FROM follows WHERE f1 = p_uid AND f2 = p_followee;
  IF v_follows > 0 THEN
    DELETE FROM follows WHERE f1 = p_uid AND f2 = p_followee;
    DELETE FROM followers WHERE f1 = p_followee AND f2 = p_uid;
    SELECT followers INTO v_followers FROM user_profiles WHERE uid = p_followee;
    UPDATE user_profiles SET followers = v_followers - 1 WHERE uid = p_followee;
  END IF;
  COMMIT;
END;
$$;
