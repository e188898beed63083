-- @program 1
-- Stock is looked at, the order written, the stock lowered: two sell the last piece.

CREATE TABLE items (id INT PRIMARY KEY, stock INT NOT NULL);
CREATE TABLE orders (id INT PRIMARY KEY, item INT NOT NULL);

CREATE PROCEDURE sell(id INT, item INT)
BEGIN
  DECLARE stock INT;
  SELECT stock INTO :stock FROM items WHERE id = :item;
  IF :stock > 0 THEN
    INSERT INTO orders (id, item) VALUES (:id, :item);
    UPDATE items SET stock = stock - 1 WHERE id = :item;
  END IF;
  COMMIT;
END;
