-- @case 1
-- Effects may arrive in any order: an UPDATE is of no use before the row is known, and counts when it is.
-- @node a 1
-- @node b 2
/*init*/ CREATE TABLE message (id INT PRIMARY KEY, answer_to INT, body TEXT);
-- @partition 1|2
/*a*/ INSERT INTO message VALUES (1, NULL, 'a question');
-- > affected 1
/*a*/ INSERT INTO message VALUES (2, 1, 'an answer');
-- > affected 1
/*a*/ UPDATE message SET body = 'the answer' WHERE id = 2;
-- > affected 1
-- @deliver 1>2 #3
/*b*/ SELECT id, body FROM message ORDER BY id;
-- > ordered (empty)
-- An answer without its question.
-- @deliver 1>2 #2
/*b*/ SELECT id, body FROM message ORDER BY id;
-- > ordered (2, 'the answer')
-- @deliver 1>2
/*b*/ SELECT id, body FROM message ORDER BY id;
-- > ordered (1, 'a question') (2, 'the answer')
-- @final message (1, NULL, 'a question') (2, 1, 'the answer')
