-- SEATS: the Stonebraker Electronic Airline Ticketing System, an airline's reservations.
--
-- The six transactions of the benchmark of that name by Stonebraker and Pavlo, described in Difallah, Pavlo, Curino,
-- Cudré-Mauroux, "OLTP-Bench", VLDB 2013. Of the attributes that mean nothing there are two; the counters among them
-- have names here. Prices are cents; moments are hours, and come from the caller.

CREATE TABLE country (
  co_id INT NOT NULL,
  co_name VARCHAR(40) NOT NULL,
  PRIMARY KEY (co_id)
);

CREATE TABLE airport (
  ap_id INT NOT NULL,
  ap_name VARCHAR(40) NOT NULL,
  ap_co_id INT NOT NULL,
  PRIMARY KEY (ap_id),
  FOREIGN KEY (ap_co_id) REFERENCES country (co_id)
);

CREATE TABLE airport_distance (
  d_ap_id0 INT NOT NULL,
  d_ap_id1 INT NOT NULL,
  d_distance INT NOT NULL,
  PRIMARY KEY (d_ap_id0, d_ap_id1),
  FOREIGN KEY (d_ap_id0) REFERENCES airport (ap_id),
  FOREIGN KEY (d_ap_id1) REFERENCES airport (ap_id)
);

CREATE TABLE airline (
  al_id INT NOT NULL,
  al_name VARCHAR(40) NOT NULL,
  PRIMARY KEY (al_id)
);

CREATE TABLE customer (
  c_id INT NOT NULL,
  c_login VARCHAR(40) NOT NULL,
  c_base_ap_id INT NOT NULL,
  c_balance BIGINT NOT NULL,
  c_reservations INT NOT NULL,
  c_iattr00 BIGINT,
  c_iattr01 BIGINT,
  PRIMARY KEY (c_id),
  UNIQUE (c_login),
  FOREIGN KEY (c_base_ap_id) REFERENCES airport (ap_id)
);

CREATE TABLE frequent_flyer (
  ff_c_id INT NOT NULL,
  ff_al_id INT NOT NULL,
  ff_reservations INT NOT NULL,
  ff_iattr00 BIGINT,
  ff_iattr01 BIGINT,
  PRIMARY KEY (ff_c_id, ff_al_id),
  FOREIGN KEY (ff_c_id) REFERENCES customer (c_id),
  FOREIGN KEY (ff_al_id) REFERENCES airline (al_id)
);

CREATE TABLE flight (
  f_id INT NOT NULL,
  f_al_id INT NOT NULL,
  f_depart_ap_id INT NOT NULL,
  f_depart_time BIGINT NOT NULL,
  f_arrive_ap_id INT NOT NULL,
  f_base_price BIGINT NOT NULL,
  f_seats_total INT NOT NULL CHECK (f_seats_total > 0),
  f_seats_left INT NOT NULL,
  PRIMARY KEY (f_id),
  FOREIGN KEY (f_al_id) REFERENCES airline (al_id),
  FOREIGN KEY (f_depart_ap_id) REFERENCES airport (ap_id),
  FOREIGN KEY (f_arrive_ap_id) REFERENCES airport (ap_id)
);

CREATE TABLE reservation (
  r_id INT NOT NULL,
  r_c_id INT NOT NULL,
  r_f_id INT NOT NULL,
  r_seat INT NOT NULL,
  r_price BIGINT NOT NULL,
  PRIMARY KEY (r_id),
  FOREIGN KEY (r_c_id) REFERENCES customer (c_id),
  FOREIGN KEY (r_f_id) REFERENCES flight (f_id)
);

CREATE INDEX reservation_by_flight ON reservation (r_f_id, r_seat);

INSERT INTO country (co_id, co_name) VALUES (1, 'Germany'), (2, 'Denmark');
INSERT INTO airport (ap_id, ap_name, ap_co_id) VALUES
  (1, 'Hamburg', 1), (2, 'Hannover', 1), (3, 'Kastrup', 2), (4, 'Billund', 2);
INSERT INTO airport_distance (d_ap_id0, d_ap_id1, d_distance) VALUES
  (1, 1, 0), (1, 2, 130), (2, 2, 0), (2, 1, 130), (3, 3, 0), (3, 4, 220), (4, 4, 0), (4, 3, 220);
INSERT INTO airline (al_id, al_name) VALUES (1, 'North Air'), (2, 'South Air');
INSERT INTO customer (c_id, c_login, c_base_ap_id, c_balance, c_reservations) VALUES
  (1, 'c1', 1, 50000, 1), (2, 'c2', 1, 40000, 1), (3, 'c3', 3, 30000, 1), (4, 'c4', 4, 0, 0), (5, 'c5', 2, 90000, 0);
INSERT INTO frequent_flyer (ff_c_id, ff_al_id, ff_reservations) VALUES (1, 1, 1), (1, 2, 0), (3, 2, 1), (5, 1, 0);
INSERT INTO flight (f_id, f_al_id, f_depart_ap_id, f_depart_time, f_arrive_ap_id, f_base_price, f_seats_total,
  f_seats_left) VALUES
  (1, 1, 1, 8, 3, 12000, 6, 4), (2, 1, 3, 12, 1, 11000, 6, 6), (3, 2, 1, 14, 4, 9900, 5, 4),
  (4, 2, 4, 20, 2, 15000, 2, 2);
INSERT INTO reservation (r_id, r_c_id, r_f_id, r_seat, r_price) VALUES
  (1, 1, 1, 1, 12000), (2, 2, 1, 3, 12500), (3, 3, 3, 1, 9900);

-- @assert each seats that are left are those that nobody has: SELECT f.f_id, f_seats_total, f_seats_left, COALESCE(r.present, 0) AS present FROM flight f LEFT JOIN (SELECT r_f_id, COUNT(*) AS present FROM reservation GROUP BY r_f_id) r ON r.r_f_id = f.f_id WHERE f_seats_left <> f_seats_total - COALESCE(r.present, 0)
-- @assert each no flight is overbooked: SELECT f_id, f_seats_left FROM flight WHERE f_seats_left < 0
-- @assert each a seat is reserved once: SELECT r_f_id, r_seat, COUNT(*) AS present FROM reservation GROUP BY r_f_id, r_seat HAVING COUNT(*) > 1
-- @assert each a customer has one seat on a flight: SELECT r_f_id, r_c_id, COUNT(*) AS present FROM reservation GROUP BY r_f_id, r_c_id HAVING COUNT(*) > 1
-- @assert each a seat exists: SELECT r_id, r_seat, f_seats_total FROM reservation JOIN flight ON f_id = r_f_id WHERE r_seat < 1 OR r_seat > f_seats_total
-- @assert each customers count their reservations: SELECT c.c_id, c_reservations, COALESCE(r.present, 0) AS present FROM customer c LEFT JOIN (SELECT r_c_id, COUNT(*) AS present FROM reservation GROUP BY r_c_id) r ON r.r_c_id = c.c_id WHERE c_reservations <> COALESCE(r.present, 0)
-- @assert each airlines count the reservations of frequent flyers: SELECT ff_c_id, ff_al_id, ff_reservations, COALESCE(r.present, 0) AS present FROM frequent_flyer LEFT JOIN (SELECT r_c_id, f_al_id, COUNT(*) AS present FROM reservation JOIN flight ON f_id = r_f_id GROUP BY r_c_id, f_al_id) r ON r.r_c_id = ff_c_id AND r.f_al_id = ff_al_id WHERE ff_reservations <> COALESCE(r.present, 0)
