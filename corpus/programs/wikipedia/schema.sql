-- Wikipedia: pages, their revisions, and who watches them.
--
-- The five transactions of the workload of that name in Difallah, Pavlo, Curino, Cudré-Mauroux, "OLTP-Bench", VLDB
-- 2013, on the tables of MediaWiki that they use, without the columns that they do not. The table text is called
-- page_text. Moments, and the numbers of new revisions, come from the caller.

CREATE TABLE useracct (
  user_id INT NOT NULL,
  user_name VARCHAR(40) NOT NULL,
  user_touched BIGINT NOT NULL,
  user_editcount INT NOT NULL,
  PRIMARY KEY (user_id),
  UNIQUE (user_name)
);

CREATE TABLE user_groups (
  ug_user INT NOT NULL,
  ug_group VARCHAR(16) NOT NULL,
  PRIMARY KEY (ug_user, ug_group),
  FOREIGN KEY (ug_user) REFERENCES useracct (user_id)
);

CREATE TABLE ipblocks (
  ipb_id INT NOT NULL,
  ipb_address VARCHAR(40) NOT NULL,
  ipb_user INT NOT NULL,
  PRIMARY KEY (ipb_id)
);

CREATE TABLE page (
  page_id INT NOT NULL,
  page_namespace INT NOT NULL,
  page_title VARCHAR(40) NOT NULL,
  page_latest INT NOT NULL,
  page_touched BIGINT NOT NULL,
  PRIMARY KEY (page_id),
  UNIQUE (page_namespace, page_title)
);

CREATE TABLE page_restrictions (
  pr_page INT NOT NULL,
  pr_type VARCHAR(16) NOT NULL,
  PRIMARY KEY (pr_page, pr_type),
  FOREIGN KEY (pr_page) REFERENCES page (page_id)
);

CREATE TABLE page_text (
  old_id INT NOT NULL,
  old_page INT NOT NULL,
  old_text VARCHAR(200) NOT NULL,
  PRIMARY KEY (old_id)
);

CREATE TABLE revision (
  rev_id INT NOT NULL,
  rev_page INT NOT NULL,
  rev_text_id INT NOT NULL,
  rev_parent_id INT NOT NULL,
  rev_user INT NOT NULL,
  rev_timestamp BIGINT NOT NULL,
  PRIMARY KEY (rev_id),
  FOREIGN KEY (rev_page) REFERENCES page (page_id),
  FOREIGN KEY (rev_text_id) REFERENCES page_text (old_id),
  FOREIGN KEY (rev_user) REFERENCES useracct (user_id)
);

CREATE TABLE recentchanges (
  rc_this_oldid INT NOT NULL,
  rc_last_oldid INT NOT NULL,
  rc_cur_id INT NOT NULL,
  rc_user INT NOT NULL,
  rc_timestamp BIGINT NOT NULL,
  PRIMARY KEY (rc_this_oldid)
);

CREATE TABLE logging (
  log_id INT NOT NULL,
  log_action VARCHAR(16) NOT NULL,
  log_user INT NOT NULL,
  log_page INT NOT NULL,
  log_timestamp BIGINT NOT NULL,
  PRIMARY KEY (log_id)
);

CREATE TABLE watchlist (
  wl_user INT NOT NULL,
  wl_namespace INT NOT NULL,
  wl_title VARCHAR(40) NOT NULL,
  wl_notified BIGINT,
  PRIMARY KEY (wl_user, wl_namespace, wl_title),
  FOREIGN KEY (wl_user) REFERENCES useracct (user_id)
);

INSERT INTO useracct (user_id, user_name, user_touched, user_editcount) VALUES
  (1, 'Ulla', 10, 2), (2, 'Victor', 11, 2), (3, 'Wanda', 12, 0), (4, 'Xaver', 13, 0);
INSERT INTO user_groups (ug_user, ug_group) VALUES (1, 'sysop'), (2, 'bot');
INSERT INTO ipblocks (ipb_id, ipb_address, ipb_user) VALUES (1, '192.0.2.7', 4);
INSERT INTO page (page_id, page_namespace, page_title, page_latest, page_touched) VALUES
  (1, 0, 'Loom', 2, 21), (2, 1, 'Loom', 4, 23), (3, 0, 'Weft', 3, 22);
INSERT INTO page_restrictions (pr_page, pr_type) VALUES (1, 'move'), (2, 'read');
INSERT INTO page_text (old_id, old_page, old_text) VALUES
  (1, 1, 'A loom.'), (2, 1, 'A loom is for weaving.'), (3, 3, 'What goes across.'), (4, 2, 'Why?');
INSERT INTO revision (rev_id, rev_page, rev_text_id, rev_parent_id, rev_user, rev_timestamp) VALUES
  (1, 1, 1, 0, 1, 20), (2, 1, 2, 1, 2, 21), (3, 3, 3, 0, 1, 22), (4, 2, 4, 0, 2, 23);
INSERT INTO watchlist (wl_user, wl_namespace, wl_title) VALUES
  (1, 0, 'Loom'), (1, 1, 'Loom'), (3, 0, 'Loom'), (3, 1, 'Loom'), (3, 0, 'Weft'), (3, 1, 'Weft');

-- @assert each the latest revision of a page is one of its own and has no successor: SELECT p.page_id, p.page_latest FROM page p LEFT JOIN revision r ON r.rev_id = p.page_latest AND r.rev_page = p.page_id WHERE r.rev_id IS NULL UNION ALL SELECT p.page_id, s.rev_id FROM page p JOIN revision s ON s.rev_parent_id = p.page_latest
-- @assert each no revision has two successors: SELECT rev_parent_id, COUNT(*) AS successors FROM revision WHERE rev_parent_id > 0 GROUP BY rev_parent_id HAVING COUNT(*) > 1
-- @assert each every revision has a text of its page: SELECT r.rev_id FROM revision r LEFT JOIN page_text t ON t.old_id = r.rev_text_id AND t.old_page = r.rev_page WHERE t.old_id IS NULL
-- @assert each users count their revisions: SELECT u.user_id, user_editcount, COALESCE(r.present, 0) AS present FROM useracct u LEFT JOIN (SELECT rev_user, COUNT(*) AS present FROM revision GROUP BY rev_user) r ON r.rev_user = u.user_id WHERE user_editcount <> COALESCE(r.present, 0)
-- @assert each who watches a page watches its talk page: SELECT a.wl_user, a.wl_title FROM watchlist a LEFT JOIN watchlist b ON b.wl_user = a.wl_user AND b.wl_title = a.wl_title AND b.wl_namespace = 1 - a.wl_namespace WHERE b.wl_user IS NULL
-- @assert each every change is logged: SELECT c.rc_this_oldid FROM recentchanges c LEFT JOIN logging l ON l.log_id = c.rc_this_oldid WHERE l.log_id IS NULL
