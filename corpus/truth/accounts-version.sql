CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL, version INT NOT NULL);
