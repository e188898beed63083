-- @case 1
-- The types of PostgreSQL come back as what they are.
/*init*/ CREATE TABLE v (b BOOLEAN, y BYTEA, c CHAR(4), t TIMESTAMP, d DATE, j JSONB, u UUID, a INT[], f REAL, n NUMERIC);
/*a*/ INSERT INTO v VALUES (TRUE, '\x00ff', 'ab', '2020-02-29 12:34:56', '2020-02-29', '{"a": 1}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{1,2}', 1.5, 'NaN');
-- > affected 1
/*a*/ SELECT * FROM v;
-- > rows (TRUE, X'00ff', 'ab', '2020-02-29 12:34:56', '2020-02-29', '{"a": 1}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{1,2}', 1.5, 'NaN')
/*a*/ SELECT 2147483647::int4 + 1;
-- > error out-of-range
/*a*/ SELECT;
-- > rows ()
