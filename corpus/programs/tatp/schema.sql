-- TATP, the Telecommunication Application Transaction Processing benchmark: a home location register.
--
-- Neuvonen, Wolski, Manner, Raatikka, "Telecom Application Transaction Processing Benchmark", IBM 2009. Of the ten
-- bits, hex digits and bytes of a subscriber there are two each; the transactions use the first. Times are hours.

CREATE TABLE subscriber (
  s_id INT NOT NULL,
  sub_nbr VARCHAR(15) NOT NULL,
  bit_1 INT NOT NULL,
  bit_2 INT NOT NULL,
  hex_1 INT NOT NULL,
  hex_2 INT NOT NULL,
  byte2_1 INT NOT NULL,
  byte2_2 INT NOT NULL,
  msc_location BIGINT NOT NULL,
  vlr_location BIGINT NOT NULL,
  PRIMARY KEY (s_id),
  UNIQUE (sub_nbr)
);

CREATE TABLE access_info (
  s_id INT NOT NULL,
  ai_type INT NOT NULL,
  data1 INT NOT NULL,
  data2 INT NOT NULL,
  data3 VARCHAR(3) NOT NULL,
  data4 VARCHAR(5) NOT NULL,
  PRIMARY KEY (s_id, ai_type),
  FOREIGN KEY (s_id) REFERENCES subscriber (s_id)
);

CREATE TABLE special_facility (
  s_id INT NOT NULL,
  sf_type INT NOT NULL,
  is_active INT NOT NULL,
  error_cntrl INT NOT NULL,
  data_a INT NOT NULL,
  data_b VARCHAR(5) NOT NULL,
  PRIMARY KEY (s_id, sf_type),
  FOREIGN KEY (s_id) REFERENCES subscriber (s_id)
);

CREATE TABLE call_forwarding (
  s_id INT NOT NULL,
  sf_type INT NOT NULL,
  start_time INT NOT NULL,
  end_time INT NOT NULL,
  numberx VARCHAR(15) NOT NULL,
  PRIMARY KEY (s_id, sf_type, start_time),
  FOREIGN KEY (s_id, sf_type) REFERENCES special_facility (s_id, sf_type),
  CHECK (start_time < end_time)
);

INSERT INTO subscriber (s_id, sub_nbr, bit_1, bit_2, hex_1, hex_2, byte2_1, byte2_2, msc_location, vlr_location) VALUES
  (1, '000000000000001', 0, 1, 7, 10, 200, 14, 4001, 9001),
  (2, '000000000000002', 1, 0, 15, 0, 31, 255, 4002, 9002),
  (3, '000000000000003', 1, 1, 0, 9, 77, 128, 4003, 9003),
  (4, '000000000000004', 0, 0, 3, 3, 0, 99, 4004, 9004);
INSERT INTO access_info (s_id, ai_type, data1, data2, data3, data4) VALUES
  (1, 1, 11, 200, 'AQZ', 'KLMNO'), (1, 3, 12, 201, 'BRX', 'PQRST'), (2, 2, 13, 202, 'CSW', 'UVWXY'),
  (3, 1, 14, 203, 'DTV', 'ZABCD'), (3, 2, 15, 204, 'EUU', 'EFGHI'), (3, 4, 16, 205, 'FVT', 'JKLMN');
INSERT INTO special_facility (s_id, sf_type, is_active, error_cntrl, data_a, data_b) VALUES
  (1, 1, 1, 0, 100, 'AAAAA'), (1, 2, 0, 1, 101, 'BBBBB'), (2, 1, 1, 0, 102, 'CCCCC'), (2, 4, 1, 2, 103, 'DDDDD'),
  (3, 3, 1, 0, 104, 'EEEEE'), (4, 1, 0, 3, 105, 'FFFFF');
INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx) VALUES
  (1, 1, 0, 8, '900000000000001'), (1, 1, 16, 20, '900000000000002'), (2, 4, 8, 12, '900000000000003'),
  (3, 3, 0, 4, '900000000000004');

-- @assert each call forwarding has its facility: SELECT cf.s_id, cf.sf_type FROM call_forwarding cf LEFT JOIN special_facility sf ON sf.s_id = cf.s_id AND sf.sf_type = cf.sf_type WHERE sf.s_id IS NULL
-- @assert each facilities and access data have their subscriber: SELECT sf.s_id FROM special_facility sf LEFT JOIN subscriber s ON s.s_id = sf.s_id WHERE s.s_id IS NULL UNION ALL SELECT ai.s_id FROM access_info ai LEFT JOIN subscriber s ON s.s_id = ai.s_id WHERE s.s_id IS NULL
-- @assert each call forwarding starts at midnight or eight or sixteen hours: SELECT * FROM call_forwarding WHERE start_time NOT IN (0, 8, 16) OR end_time <= start_time OR end_time > 24
-- @assert each bits are bits: SELECT s_id, bit_1 FROM subscriber WHERE bit_1 NOT IN (0, 1)
