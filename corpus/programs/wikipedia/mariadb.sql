-- Wikipedia as stored procedures of MariaDB and MySQL. schema.sql says what it is; postgres.sql says the same in PL/pgSQL.

DELIMITER //

-- GetPageAnonymous: the text of a page, unless the reader's address is blocked or the page is restricted.
CREATE PROCEDURE get_page_anonymous(IN p_namespace INT, IN p_title VARCHAR(40), IN p_address VARCHAR(40), OUT
  p_rev_id INT, OUT p_text VARCHAR(200))
BEGIN
  DECLARE v_page INT;
  DECLARE v_restrictions INT;
  DECLARE v_blocks INT;
  DECLARE v_text_id INT;
  START TRANSACTION;
  SELECT page_id, page_latest INTO v_page, p_rev_id
    FROM page WHERE page_namespace = p_namespace AND page_title = p_title;
  IF v_page IS NULL THEN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no such page';
  END IF;
  SELECT COUNT(*) INTO v_restrictions FROM page_restrictions WHERE pr_page = v_page AND pr_type = 'read';
  SELECT COUNT(*) INTO v_blocks FROM ipblocks WHERE ipb_address = p_address;
  IF v_restrictions = 0 AND v_blocks = 0 THEN
    SELECT rev_text_id INTO v_text_id FROM revision WHERE rev_page = v_page AND rev_id = p_rev_id;
    SELECT old_text INTO p_text FROM page_text WHERE old_id = v_text_id;
  END IF;
  COMMIT;
END //

-- GetPageAuthenticated: the text of a page for a user who has logged in; administrators may read everything.
CREATE PROCEDURE get_page_authenticated(IN p_namespace INT, IN p_title VARCHAR(40), IN p_user INT, OUT p_rev_id INT,
  OUT p_text VARCHAR(200))
BEGIN
  DECLARE v_name VARCHAR(40);
  DECLARE v_groups INT;
  DECLARE v_page INT;
  DECLARE v_restrictions INT;
  DECLARE v_blocks INT;
  DECLARE v_text_id INT;
  START TRANSACTION;
  SELECT user_name INTO v_name FROM useracct WHERE user_id = p_user;
  SELECT page_id, page_latest INTO v_page, p_rev_id
    FROM page WHERE page_namespace = p_namespace AND page_title = p_title;
  IF v_name IS NULL OR v_page IS NULL THEN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no such user or page';
  END IF;
  SELECT COUNT(*) INTO v_groups FROM user_groups WHERE ug_user = p_user AND ug_group = 'sysop';
  SELECT COUNT(*) INTO v_restrictions FROM page_restrictions WHERE pr_page = v_page AND pr_type = 'read';
  SELECT COUNT(*) INTO v_blocks FROM ipblocks WHERE ipb_user = p_user;
  IF v_groups > 0 OR (v_restrictions = 0 AND v_blocks = 0) THEN
    SELECT rev_text_id INTO v_text_id FROM revision WHERE rev_page = v_page AND rev_id = p_rev_id;
    SELECT old_text INTO p_text FROM page_text WHERE old_id = v_text_id;
  END IF;
  COMMIT;
END //

-- AddWatchList: a page comes to a user's list, and its talk page with it; nothing happens if it is there.
CREATE PROCEDURE add_watch_list(IN p_user INT, IN p_title VARCHAR(40), IN p_now BIGINT)
BEGIN
  DECLARE v_watched INT;
  START TRANSACTION;
  SELECT COUNT(*) INTO v_watched FROM watchlist WHERE wl_user = p_user AND wl_namespace = 0 AND wl_title = p_title;
  IF v_watched = 0 THEN
    INSERT INTO watchlist (wl_user, wl_namespace, wl_title) VALUES (p_user, 0, p_title);
    INSERT INTO watchlist (wl_user, wl_namespace, wl_title) VALUES (p_user, 1, p_title);
  END IF;
  UPDATE useracct SET user_touched = p_now WHERE user_id = p_user;
  COMMIT;
END //

-- RemoveWatchList: both go.
CREATE PROCEDURE remove_watch_list(IN p_user INT, IN p_title VARCHAR(40), IN p_now BIGINT)
BEGIN
  START TRANSACTION;
  DELETE FROM watchlist WHERE wl_user = p_user AND wl_namespace = 0 AND wl_title = p_title;
  DELETE FROM watchlist WHERE wl_user = p_user AND wl_namespace = 1 AND wl_title = p_title;
  UPDATE useracct SET user_touched = p_now WHERE user_id = p_user;
  COMMIT;
END //

-- UpdatePage: a new revision, by a user who has seen the last one: if there is a newer one, the edit is refused.
-- Whoever watches the page and was not yet told is told.
CREATE PROCEDURE update_page(IN p_namespace INT, IN p_title VARCHAR(40), IN p_user INT, IN p_seen INT, IN p_rev_id
  INT, IN p_text VARCHAR(200), IN p_now BIGINT, OUT p_told INT)
BEGIN
  DECLARE v_page INT;
  DECLARE v_latest INT;
  DECLARE v_edits INT;
  DECLARE v_watcher INT;
  START TRANSACTION;
  SELECT page_id, page_latest INTO v_page, v_latest
    FROM page WHERE page_namespace = p_namespace AND page_title = p_title;
  IF v_page IS NULL OR v_latest < p_seen OR v_latest > p_seen THEN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no such page, or another revision than that which was seen';
  END IF;
  INSERT INTO page_text (old_id, old_page, old_text) VALUES (p_rev_id, v_page, p_text);
  INSERT INTO revision (rev_id, rev_page, rev_text_id, rev_parent_id, rev_user, rev_timestamp)
    VALUES (p_rev_id, v_page, p_rev_id, v_latest, p_user, p_now);
  UPDATE page SET page_latest = p_rev_id, page_touched = p_now WHERE page_id = v_page;
  INSERT INTO recentchanges (rc_this_oldid, rc_last_oldid, rc_cur_id, rc_user, rc_timestamp)
    VALUES (p_rev_id, v_latest, v_page, p_user, p_now);
  SET p_told = 0;
  BEGIN
    DECLARE v_done INT DEFAULT 0;
    DECLARE c_watchers CURSOR FOR
      SELECT wl_user FROM watchlist
        WHERE wl_namespace = p_namespace AND wl_title = p_title AND wl_user <> p_user AND wl_notified IS NULL
        ORDER BY wl_user;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_done = 1;
    OPEN c_watchers;
    FETCH c_watchers INTO v_watcher;
    WHILE v_done = 0 DO
      UPDATE watchlist SET wl_notified = p_now
        WHERE wl_user = v_watcher AND wl_namespace = p_namespace AND wl_title = p_title;
      SET p_told = p_told + 1;
      FETCH c_watchers INTO v_watcher;
    END WHILE;
    CLOSE c_watchers;
  END;
  INSERT INTO logging (log_id, log_action, log_user, log_page, log_timestamp)
    VALUES (p_rev_id, 'patrol', p_user, v_page, p_now);
  SELECT user_editcount INTO v_edits FROM useracct WHERE user_id = p_user;
  UPDATE useracct SET user_editcount = v_edits + 1, user_touched = p_now WHERE user_id = p_user;
  COMMIT;
END //

DELIMITER ;
