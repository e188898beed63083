-- @case 1
-- Two sessions read a counter, and both write what they read plus one.
/*init*/ CREATE TABLE counter (n INT);
/*init*/ INSERT INTO counter VALUES (0);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT n FROM counter;
/*b*/ SELECT n FROM counter;
/*a*/ UPDATE counter SET n = 1;
/*b*/ UPDATE counter SET n = 1;
/*a*/ COMMIT;
/*b*/ COMMIT;
