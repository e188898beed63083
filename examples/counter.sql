-- @case 1
-- Two sessions read a counter, and both write what they read plus one. Each notes in the log that it has counted.
-- @assert end no update is lost: SELECT n AS is_there, done AS should_be FROM counter, (SELECT COUNT(*) AS done FROM log) AS counted WHERE n <> done
/*init*/ CREATE TABLE counter (n INT);
/*init*/ CREATE TABLE log (who CHAR(1));
/*init*/ INSERT INTO counter VALUES (0);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT n FROM counter;
/*b*/ SELECT n FROM counter;
/*a*/ INSERT INTO log VALUES ('a');
/*b*/ INSERT INTO log VALUES ('b');
/*a*/ UPDATE counter SET n = 1;
/*b*/ UPDATE counter SET n = 1;
/*a*/ COMMIT;
/*b*/ COMMIT;
