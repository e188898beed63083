-- @program 1
-- A customer without orders is removed while an order is taken: it is left without its customer.

CREATE TABLE customers (id INT PRIMARY KEY, city INT NOT NULL);
CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL);

CREATE PROCEDURE take_order(id INT, customer INT)
BEGIN
  DECLARE known INT;
  SELECT COUNT(*) INTO :known FROM customers WHERE id = :customer;
  IF :known > 0 THEN
    INSERT INTO orders (id, customer) VALUES (:id, :customer);
  END IF;
  COMMIT;
END;

CREATE PROCEDURE remove_customer(customer INT)
BEGIN
  DECLARE open_orders INT;
  SELECT COUNT(*) INTO :open_orders FROM orders WHERE customer = :customer;
  IF :open_orders = 0 THEN
    DELETE FROM customers WHERE id = :customer;
  END IF;
  COMMIT;
END;
