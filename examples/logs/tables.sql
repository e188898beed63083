-- The tables of the shop whose log is shop.log, as pg_dump --schema-only would write them.
CREATE TABLE items (id INT PRIMARY KEY, name TEXT NOT NULL, stock INT NOT NULL);
CREATE TABLE orders (id INT PRIMARY KEY, item INT NOT NULL REFERENCES items (id), quantity INT NOT NULL);
