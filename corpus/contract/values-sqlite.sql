-- @case 1
-- SQLite types values, not columns: each comes back with the storage class that it went in with.
/*init*/ CREATE TABLE v (id INTEGER PRIMARY KEY, x);
/*a*/ INSERT INTO v VALUES (1, 1), (2, 1.5), (3, '1'), (4, X'31'), (5, NULL), (6, '');
-- > affected 6
/*a*/ SELECT x, typeof(x) FROM v ORDER BY id;
-- > ordered (1, 'integer') (1.5, 'real') ('1', 'text') (X'31', 'blob') (NULL, 'null') ('', 'text')
