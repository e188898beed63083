-- @case 1
-- Constraints hold where a statement is executed, against what that node knows; what is delivered is never refused.
-- @node a 1
-- @node b 2
/*init*/ CREATE TABLE member (id INT PRIMARY KEY, mail VARCHAR(20) UNIQUE, low INT, high INT, CHECK (low <= high));
/*init*/ INSERT INTO member VALUES (1, 'one', 1, 9);
/*b*/ INSERT INTO member VALUES (2, 'one', 1, 1);
-- > error unique
-- @partition 1|2
/*a*/ INSERT INTO member VALUES (2, 'two', 2, 2);
-- > affected 1
/*b*/ INSERT INTO member VALUES (3, 'two', 3, 3);
-- > affected 1
/*a*/ UPDATE member SET low = 8 WHERE id = 1;
-- > affected 1
/*b*/ UPDATE member SET high = 2 WHERE id = 1;
-- > affected 1
-- Both of these are row 4: the later one.
/*a*/ INSERT INTO member VALUES (4, 'four', 4, 4);
-- > affected 1
/*b*/ INSERT INTO member VALUES (4, 'vier', 5, 5);
-- > affected 1
-- @heal
/*a*/ SELECT * FROM member ORDER BY id;
-- > ordered (1, 'one', 8, 2) (2, 'two', 2, 2) (3, 'two', 3, 3) (4, 'vier', 5, 5)
/*b*/ UPDATE member SET low = low WHERE id = 1;
-- > error check
-- @final member (1, 'one', 8, 2) (2, 'two', 2, 2) (3, 'two', 3, 3) (4, 'vier', 5, 5)
