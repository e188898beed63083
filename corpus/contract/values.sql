-- @case 1
-- Values go in and come out unchanged: numbers with all their digits, texts with quotes and line breaks, NULL and nothing.
/*init*/ CREATE TABLE v (id INT PRIMARY KEY, i BIGINT, n NUMERIC(20, 4), d DOUBLE PRECISION, s VARCHAR(40));
/*a*/ INSERT INTO v VALUES (1, 9223372036854775807, 1.5000, 0.1, 'it''s');
/*a*/ INSERT INTO v VALUES (2, -9223372036854775808, -0.0001, 1e10, '');
/*a*/ INSERT INTO v VALUES (3, NULL, NULL, NULL, NULL);
/*a*/ INSERT INTO v VALUES (4, 0, 0, -2.5, 'two
lines, ünïcödé ☃');
/*a*/ SELECT id, i, n, d, s FROM v ORDER BY id;
-- > ordered (1, 9223372036854775807, 1.5, 0.1, 'it''s') (2, -9223372036854775808, -0.0001, 10000000000, '') (3, NULL, NULL, NULL, NULL) (4, 0, 0, -2.5, U&'two\000Alines, ünïcödé ☃')
/*a*/ SELECT 1 = 1, 1 = 2;
-- > rows (TRUE, FALSE)
