-- @case 1
-- From repeatable read on, a deleted row is locked like any other until purge removes it; and purge does not come in the
-- middle of a case. So who locks the deleted key keeps out who comes second, however long ago it was deleted.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*init*/ INSERT INTO t VALUES (2, 20);
/*init*/ INSERT INTO t VALUES (3, 30);
/*a*/ DELETE FROM t WHERE id = 2;
-- > affected 1
/*a*/ SELECT SLEEP(0.02);
/*b*/ BEGIN;
/*c*/ BEGIN;
/*b*/ SELECT v FROM t WHERE id = 2 FOR UPDATE;
-- > rows (empty)
/*c*/ SELECT v FROM t WHERE id = 2 FOR UPDATE;
-- > rows (empty)
-- > [repeatable read, serializable] blocked
/*b*/ COMMIT;
-- > ok
-- > [repeatable read, serializable] resumes c
/*c*/ COMMIT;
-- @final t (1, 10) (3, 30)
