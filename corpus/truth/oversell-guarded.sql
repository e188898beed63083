-- @program 1
-- Stock is lowered where there is some; who changes no row gives up.

CREATE TABLE items (id INT PRIMARY KEY, stock INT NOT NULL);
CREATE TABLE orders (id INT PRIMARY KEY, item INT NOT NULL);

CREATE PROCEDURE sell(id INT, item INT)
BEGIN
  UPDATE items SET stock = stock - 1 WHERE id = :item AND stock > 0;
  IF ROW_COUNT() = 0 THEN
    ROLLBACK;
    SIGNAL 'sold out';
  END IF;
  INSERT INTO orders (id, item) VALUES (:id, :item);
  COMMIT;
END;
