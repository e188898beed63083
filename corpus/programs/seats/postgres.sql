-- SEATS as procedures in PL/pgSQL. schema.sql says what it is; mariadb.sql says the same as stored procedures.

-- FindFlights: how many flights leave an airport for another one, or for one that is near it, in a span of time; the
-- cheapest of them, and its airline.
CREATE PROCEDURE find_flights(IN p_depart_ap_id INT, IN p_arrive_ap_id INT, IN p_start BIGINT, IN p_end BIGINT, IN
  p_distance INT, OUT p_flights INT, OUT p_f_id INT, OUT p_airline VARCHAR(40))
LANGUAGE plpgsql AS $$
DECLARE
  v_f_id INT;
  v_al_id INT;
  v_base_price BIGINT;
  v_cheapest BIGINT;
  v_airline VARCHAR(40);
BEGIN
  p_flights := 0;
  FOR v_f_id, v_al_id, v_base_price IN
    SELECT f_id, f_al_id, f_base_price FROM flight
      WHERE f_depart_ap_id = p_depart_ap_id AND f_depart_time >= p_start AND f_depart_time <= p_end
      AND f_arrive_ap_id IN (
        SELECT d_ap_id1 FROM airport_distance WHERE d_ap_id0 = p_arrive_ap_id AND d_distance <= p_distance
      )
      ORDER BY f_id
  LOOP
    SELECT al_name INTO v_airline FROM airline WHERE al_id = v_al_id;
    p_flights := p_flights + 1;
    IF v_cheapest IS NULL OR v_base_price < v_cheapest THEN
      v_cheapest := v_base_price;
      p_f_id := v_f_id;
      p_airline := v_airline;
    END IF;
  END LOOP;
  COMMIT;
END;
$$;

-- FindOpenSeats: how many seats of a flight are open, the first of them, and its price, which rises as they fill.
CREATE PROCEDURE find_open_seats(IN p_f_id INT, OUT p_left INT, OUT p_seat INT, OUT p_price BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_base_price BIGINT;
  v_total INT;
  v_taken INT;
  v_rise BIGINT;
BEGIN
  SELECT f_base_price, f_seats_total, f_seats_left INTO v_base_price, v_total, p_left FROM flight WHERE f_id = p_f_id;
  IF v_total IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'no such flight';
  END IF;
  p_seat := 1;
  FOR v_taken IN
    SELECT r_seat FROM reservation WHERE r_f_id = p_f_id ORDER BY r_seat
  LOOP
    IF v_taken = p_seat THEN
      p_seat := p_seat + 1;
    END IF;
  END LOOP;
  v_rise := v_base_price * (v_total - p_left);
  p_price := v_base_price + (v_rise - v_rise % v_total) / v_total;
  IF p_left = 0 THEN
    p_seat := NULL;
  END IF;
  COMMIT;
END;
$$;

-- NewReservation: a seat for a customer; fails if the flight is full, the seat is taken, or the customer has one.
CREATE PROCEDURE new_reservation(IN p_r_id INT, IN p_c_id INT, IN p_f_id INT, IN p_seat INT, IN p_price BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_al_id INT;
  v_left INT;
  v_total INT;
  v_taken INT;
  v_has INT;
  v_customer INT;
BEGIN
  SELECT f_al_id, f_seats_left, f_seats_total INTO v_al_id, v_left, v_total FROM flight WHERE f_id = p_f_id;
  IF v_al_id IS NULL OR v_left <= 0 OR p_seat > v_total THEN
    ROLLBACK;
    RAISE EXCEPTION 'no such flight or seat, or no seat left';
  END IF;
  SELECT COUNT(*) INTO v_taken FROM reservation WHERE r_f_id = p_f_id AND r_seat = p_seat;
  SELECT COUNT(*) INTO v_has FROM reservation WHERE r_f_id = p_f_id AND r_c_id = p_c_id;
  SELECT c_id INTO v_customer FROM customer WHERE c_id = p_c_id;
  IF v_taken > 0 OR v_has > 0 OR v_customer IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'the seat is taken, or the customer has one or does not exist';
  END IF;
  INSERT INTO reservation (r_id, r_c_id, r_f_id, r_seat, r_price) VALUES (p_r_id, p_c_id, p_f_id, p_seat, p_price);
  UPDATE flight SET f_seats_left = f_seats_left - 1 WHERE f_id = p_f_id;
  UPDATE customer SET c_reservations = c_reservations + 1, c_balance = c_balance - p_price WHERE c_id = p_c_id;
  UPDATE frequent_flyer SET ff_reservations = ff_reservations + 1 WHERE ff_c_id = p_c_id AND ff_al_id = v_al_id;
  COMMIT;
END;
$$;

-- UpdateReservation: another seat on the same flight; fails if it is taken or there is no reservation.
CREATE PROCEDURE update_reservation(IN p_r_id INT, IN p_f_id INT, IN p_seat INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_taken INT;
  v_total INT;
  v_customer INT;
BEGIN
  SELECT COUNT(*) INTO v_taken FROM reservation WHERE r_f_id = p_f_id AND r_seat = p_seat;
  SELECT f_seats_total INTO v_total FROM flight WHERE f_id = p_f_id;
  SELECT r_c_id INTO v_customer FROM reservation WHERE r_id = p_r_id AND r_f_id = p_f_id;
  IF v_taken > 0 OR p_seat > v_total OR v_customer IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'the seat is taken, or there is no such seat or reservation';
  END IF;
  UPDATE reservation SET r_seat = p_seat WHERE r_id = p_r_id AND r_f_id = p_f_id AND r_c_id = v_customer;
  COMMIT;
END;
$$;

-- DeleteReservation: the customer, given by number or by name, gets the price back.
CREATE PROCEDURE delete_reservation(IN p_f_id INT, IN p_c_id INT, IN p_c_login VARCHAR(40), OUT p_price BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
  v_c_id INT;
  v_r_id INT;
  v_al_id INT;
  v_left INT;
BEGIN
  v_c_id := p_c_id;
  IF v_c_id IS NULL THEN
    SELECT c_id INTO v_c_id FROM customer WHERE c_login = p_c_login;
  END IF;
  SELECT r_id, r_price INTO v_r_id, p_price FROM reservation WHERE r_f_id = p_f_id AND r_c_id = v_c_id;
  IF v_r_id IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'no such customer or reservation';
  END IF;
  SELECT f_al_id, f_seats_left INTO v_al_id, v_left FROM flight WHERE f_id = p_f_id;
  DELETE FROM reservation WHERE r_id = v_r_id;
  UPDATE flight SET f_seats_left = v_left + 1 WHERE f_id = p_f_id;
  UPDATE customer SET c_reservations = c_reservations - 1, c_balance = c_balance + p_price WHERE c_id = v_c_id;
  UPDATE frequent_flyer SET ff_reservations = ff_reservations - 1 WHERE ff_c_id = v_c_id AND ff_al_id = v_al_id;
  COMMIT;
END;
$$;

-- UpdateCustomer: two attributes of a customer, and of what airlines know of her.
CREATE PROCEDURE update_customer(IN p_c_id INT, IN p_attr0 BIGINT, IN p_attr1 BIGINT, OUT p_airport VARCHAR(40), OUT
  p_flyers INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_base_ap_id INT;
  v_al_id INT;
BEGIN
  SELECT c_base_ap_id INTO v_base_ap_id FROM customer WHERE c_id = p_c_id;
  IF v_base_ap_id IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'no such customer';
  END IF;
  SELECT ap_name INTO p_airport FROM airport, country WHERE ap_id = v_base_ap_id AND ap_co_id = co_id;
  UPDATE customer SET c_iattr00 = p_attr0, c_iattr01 = p_attr1 WHERE c_id = p_c_id;
  p_flyers := 0;
  FOR v_al_id IN
    SELECT ff_al_id FROM frequent_flyer WHERE ff_c_id = p_c_id ORDER BY ff_al_id
  LOOP
    UPDATE frequent_flyer SET ff_iattr00 = p_attr0, ff_iattr01 = p_attr1
      WHERE ff_c_id = p_c_id AND ff_al_id = v_al_id;
    p_flyers := p_flyers + 1;
  END LOOP;
  COMMIT;
END;
$$;
