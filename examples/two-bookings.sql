-- @case 1
-- Two people book a seat on the same flight: a looks, b looks and books, a books. Two seats are sold, one is taken off.
-- @isolation serializable
-- @program ../corpus/programs/agenda-1.sql
-- @schedule a a a b b b b b b a a a
/*init*/ CREATE TABLE flights (fltnum INT PRIMARY KEY, avail INT NOT NULL);
/*init*/ INSERT INTO flights (fltnum, avail) VALUES (1, 10);
/*a*/ -- call choose_seat(flight=1)
/*b*/ -- call choose_seat(flight=1)
