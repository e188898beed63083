-- TATP as procedures in PL/pgSQL. schema.sql says what it is; mariadb.sql says the same as stored procedures.

-- GetSubscriberData: one row by its key.
CREATE PROCEDURE get_subscriber_data(IN p_s_id INT, OUT p_sub_nbr VARCHAR(15), OUT p_bit_1 INT, OUT p_hex_1 INT, OUT
  p_byte2_1 INT, OUT p_msc_location BIGINT, OUT p_vlr_location BIGINT)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT sub_nbr, bit_1, hex_1, byte2_1, msc_location, vlr_location
    INTO p_sub_nbr, p_bit_1, p_hex_1, p_byte2_1, p_msc_location, p_vlr_location
    FROM subscriber WHERE s_id = p_s_id;
  COMMIT;
END;
$$;

-- GetNewDestination: where a call is forwarded to, if it is.
CREATE PROCEDURE get_new_destination(IN p_s_id INT, IN p_sf_type INT, IN p_start_time INT, IN p_end_time INT, OUT
  p_numberx VARCHAR(15))
LANGUAGE plpgsql AS $$
BEGIN
  SELECT cf.numberx INTO p_numberx
    FROM special_facility sf, call_forwarding cf
    WHERE sf.s_id = p_s_id AND sf.sf_type = p_sf_type AND sf.is_active = 1
    AND cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type
    AND cf.start_time <= p_start_time AND cf.end_time > p_end_time
    ORDER BY cf.start_time LIMIT 1;
  COMMIT;
END;
$$;

-- GetAccessData: one row by its key.
CREATE PROCEDURE get_access_data(IN p_s_id INT, IN p_ai_type INT, OUT p_data1 INT, OUT p_data2 INT, OUT p_data3
  VARCHAR(3), OUT p_data4 VARCHAR(5))
LANGUAGE plpgsql AS $$
BEGIN
  SELECT data1, data2, data3, data4 INTO p_data1, p_data2, p_data3, p_data4
    FROM access_info WHERE s_id = p_s_id AND ai_type = p_ai_type;
  COMMIT;
END;
$$;

-- UpdateSubscriberData: two tables; fails if the subscriber has no such facility.
CREATE PROCEDURE update_subscriber_data(IN p_s_id INT, IN p_sf_type INT, IN p_bit_1 INT, IN p_data_a INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_s_id INT;
BEGIN
  UPDATE subscriber SET bit_1 = p_bit_1 WHERE s_id = p_s_id;
  SELECT s_id INTO v_s_id FROM special_facility WHERE s_id = p_s_id AND sf_type = p_sf_type;
  IF v_s_id IS NULL THEN
    ROLLBACK;
    RAISE EXCEPTION 'the subscriber has no such facility';
  END IF;
  UPDATE special_facility SET data_a = p_data_a WHERE s_id = p_s_id AND sf_type = p_sf_type;
  COMMIT;
END;
$$;

-- UpdateLocation: by the subscriber's number, which is unique.
CREATE PROCEDURE update_location(IN p_sub_nbr VARCHAR(15), IN p_vlr_location BIGINT)
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE subscriber SET vlr_location = p_vlr_location WHERE sub_nbr = p_sub_nbr;
  COMMIT;
END;
$$;

-- InsertCallForwarding: fails if there is one at that time, or if the subscriber has no such facility.
CREATE PROCEDURE insert_call_forwarding(IN p_sub_nbr VARCHAR(15), IN p_sf_type INT, IN p_start_time INT, IN
  p_end_time INT, IN p_numberx VARCHAR(15))
LANGUAGE plpgsql AS $$
DECLARE
  v_s_id INT;
  v_facilities INT;
BEGIN
  SELECT s_id INTO v_s_id FROM subscriber WHERE sub_nbr = p_sub_nbr;
  SELECT COUNT(*) INTO v_facilities FROM special_facility WHERE s_id = v_s_id AND sf_type = p_sf_type;
  IF v_facilities = 0 THEN
    ROLLBACK;
    RAISE EXCEPTION 'the subscriber has no such facility';
  END IF;
  INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx)
    VALUES (v_s_id, p_sf_type, p_start_time, p_end_time, p_numberx);
  COMMIT;
END;
$$;

-- DeleteCallForwarding: does nothing if there is none.
CREATE PROCEDURE delete_call_forwarding(IN p_sub_nbr VARCHAR(15), IN p_sf_type INT, IN p_start_time INT)
LANGUAGE plpgsql AS $$
DECLARE
  v_s_id INT;
BEGIN
  SELECT s_id INTO v_s_id FROM subscriber WHERE sub_nbr = p_sub_nbr;
  DELETE FROM call_forwarding WHERE s_id = v_s_id AND sf_type = p_sf_type AND start_time = p_start_time;
  COMMIT;
END;
$$;
