-- The tables of the shop. Amounts are cents.

CREATE TABLE products (
  id INT NOT NULL,
  name VARCHAR(40) NOT NULL,
  price INT NOT NULL,
  stock INT NOT NULL,
  PRIMARY KEY (id)
);

CREATE TABLE customers (
  id INT NOT NULL,
  name VARCHAR(40) NOT NULL,
  wallet INT NOT NULL CHECK (wallet >= 0),
  PRIMARY KEY (id)
);

CREATE TABLE orders (
  id VARCHAR(32) NOT NULL,
  customer_id INT NOT NULL,
  product_id INT NOT NULL,
  quantity INT NOT NULL,
  total INT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY (customer_id) REFERENCES customers (id),
  FOREIGN KEY (product_id) REFERENCES products (id)
);

INSERT INTO products (id, name, price, stock) VALUES
  (1, 'teapot', 2400, 1000), (2, 'cup', 650, 1000), (3, 'saucer', 300, 1000);
INSERT INTO customers (id, name, wallet) VALUES
  (1, 'Ada', 10000000), (2, 'Ben', 10000000), (3, 'Cleo', 10000000), (4, 'Dan', 10000000);
