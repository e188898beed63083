-- Voter as stored procedures of MariaDB and MySQL. schema.sql says what it is; postgres.sql says the same in PL/pgSQL.

DELIMITER //

-- Vote: 0 if it counts, 1 if there is no such contestant, 2 if the telephone has voted often enough. Telephones whose
-- area is not known vote in state XX.
CREATE PROCEDURE vote(IN p_vote_id BIGINT, IN p_phone_number BIGINT, IN p_contestant INT, OUT p_status INT)
BEGIN
  DECLARE v_contestant INT;
  DECLARE v_votes INT;
  DECLARE v_area_code INT;
  DECLARE v_state VARCHAR(2);
  START TRANSACTION;
  SELECT contestant_number INTO v_contestant FROM contestants WHERE contestant_number = p_contestant;
  SELECT COUNT(*) INTO v_votes FROM votes WHERE phone_number = p_phone_number;
  SET v_area_code = (p_phone_number - p_phone_number % 10000000) / 10000000;
  SELECT state INTO v_state FROM area_code_state WHERE area_code = v_area_code;
  IF v_state IS NULL THEN
    SET v_state = 'XX';
  END IF;
  IF v_contestant IS NULL THEN
    SET p_status = 1;
  ELSEIF v_votes >= 2 THEN
    SET p_status = 2;
  ELSE
    SET p_status = 0;
    INSERT INTO votes (vote_id, phone_number, state, contestant_number)
      VALUES (p_vote_id, p_phone_number, v_state, p_contestant);
    UPDATE contestants SET total = total + 1 WHERE contestant_number = p_contestant;
  END IF;
  COMMIT;
END //

DELIMITER ;
