-- @case 1
-- The types of MySQL and MariaDB come back as what they are.
/*a*/ CREATE TABLE v (b BOOLEAN, u BIGINT UNSIGNED, y VARBINARY(4), bits BIT(10), c CHAR(4), t DATETIME(3), d DATE, h TIME, a YEAR, e ENUM('one', 'two'), s SET('x', 'y'), f FLOAT, n DECIMAL(10, 2));
/*a*/ INSERT INTO v VALUES (TRUE, 18446744073709551615, X'00ff', b'1000000001', 'ab', '2020-02-29 12:34:56.789', '2020-02-29', '-12:34:56', 2020, 'two', 'x,y', 1.5, 12.30);
-- > affected 1
/*a*/ SELECT * FROM v;
-- > rows (TRUE, 18446744073709551615, X'00ff', 513, 'ab', '2020-02-29 12:34:56.789', '2020-02-29', '-12:34:56', 2020, 'two', 'x,y', 1.5, 12.3)
/*a*/ INSERT INTO v (c) VALUES ('too long');
-- > error out-of-range
/*a*/ INSERT INTO v (u) VALUES (-1);
-- > error out-of-range
/*a*/ INSERT INTO v (d) VALUES ('no date');
-- > error conversion
/*a*/ SELECT CAST('12 apples' AS SIGNED), _utf8mb4'ü', NULL;
-- > rows (12, 'ü', NULL)
