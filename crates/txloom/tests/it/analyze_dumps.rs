//! What dump tools write serves on every target: as it is where it was written for, and made anew elsewhere.

use crate::support::{Finished, TestDir, limited, output};

/// As pg_dump 15 writes it.
const POSTGRES: &str = r#"
\restrict abc
SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE TYPE public.mood AS ENUM (
    'ok',
    'bad'
);
ALTER TYPE public.mood OWNER TO shop;
CREATE TABLE public."Customer" (
    id integer NOT NULL,
    "fullName" character varying(40) NOT NULL,
    "order" integer NOT NULL,
    m public.mood DEFAULT 'ok'::public.mood,
    n public.mood NOT NULL,
    email text,
    created timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE public."Customer" OWNER TO shop;
CREATE SEQUENCE public."Customer_id_seq"
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER TABLE public."Customer_id_seq" OWNER TO shop;
ALTER SEQUENCE public."Customer_id_seq" OWNED BY public."Customer".id;
CREATE TABLE public.orders (
    id bigint NOT NULL,
    customer integer NOT NULL,
    total numeric(10,2) NOT NULL,
    doc jsonb,
    doubled numeric GENERATED ALWAYS AS ((total * (2)::numeric)) STORED,
    CONSTRAINT orders_total_check CHECK ((total >= (0)::numeric))
);
ALTER TABLE public.orders OWNER TO shop;
COMMENT ON TABLE public.orders IS 'all of them';
ALTER TABLE public.orders ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.rich AS
 SELECT orders.id,
    orders.total
   FROM public.orders
  WHERE (orders.total > (100)::numeric);
ALTER TABLE public.rich OWNER TO shop;
ALTER TABLE ONLY public."Customer" ALTER COLUMN id SET DEFAULT nextval('public."Customer_id_seq"'::regclass);
ALTER TABLE ONLY public."Customer"
    ADD CONSTRAINT "Customer_email_key" UNIQUE (email);
ALTER TABLE ONLY public."Customer"
    ADD CONSTRAINT "Customer_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX one_open ON public.orders USING btree (customer) WHERE (total = (0)::numeric);
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_customer_fkey FOREIGN KEY (customer) REFERENCES public."Customer"(id) ON DELETE CASCADE;
\unrestrict abc
"#;

/// As mariadb-dump 10.11 writes it.
const MARIADB: &str = r"
/*M!999999\- enable the sandbox mode */
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `Customer`;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `Customer` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `fullName` varchar(40) NOT NULL,
  `order` int(11) NOT NULL,
  `m` enum('ok','bad') DEFAULT 'ok',
  `email` varchar(100) DEFAULT NULL,
  `created` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  `js` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`js`)),
  `y` year(4) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `email` (`email`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
DROP TABLE IF EXISTS `orders`;
CREATE TABLE `orders` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `customer` int(11) NOT NULL,
  `total` decimal(10,2) NOT NULL CHECK (`total` >= 0),
  `doubled` decimal(12,2) GENERATED ALWAYS AS (`total` * 2) STORED,
  PRIMARY KEY (`id`),
  KEY `c` (`customer`),
  CONSTRAINT `fk` FOREIGN KEY (`customer`) REFERENCES `Customer` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
";

/// Two procedures that lose updates, with names that need quotes.
const SHOP: &str = r#"
CREATE PROCEDURE charge(p_id INT, p_n INT) BEGIN
  DECLARE v INT;
  SELECT total INTO :v FROM orders WHERE id = :p_id;
  UPDATE orders SET total = :v + :p_n WHERE id = :p_id;
END;
CREATE PROCEDURE count_order(p_id INT) BEGIN
  DECLARE v INT;
  SELECT c."order" INTO :v FROM public."Customer" c WHERE c.id = :p_id;
  UPDATE "Customer" SET "order" = :v + 1 WHERE id = :p_id;
END;
"#;

/// Both updates are lost on a target, and a change of the program removes that.
#[track_caller]
fn check(dump: &str, shop: &str, target: &str, is_remade: bool) {
    let dir = TestDir::new(if dump == POSTGRES { "dumps-postgres" } else { "dumps-mariadb" });
    let (dump, shop) = (dir.file("dump.sql", dump), dir.file("shop.sql", shop));
    let level = if target.starts_with("replicas") { "eventual" } else { "read-committed" };
    let arguments = ["analyze", &shop, "--schema", &dump, "--level", level, "--on", target, "--instances", "2"];
    let Finished { stdout, stderr, code } = output(&[&arguments[..], &["--run", "--fix"]].concat());
    let context = format!("{target}\n{stdout}\n{stderr}");
    assert_eq!(code, 1, "{context}");
    assert_eq!(stderr.contains("made anew"), is_remade, "{context}");
    for part in ["two calls of charge", "two calls of count_order", "all of them:"] {
        assert!(stdout.contains(part), "{part}\n{context}");
    }
    let run = stdout.lines().find(|line| line.starts_with("Run on")).unwrap_or_default();
    let counts: Vec<&str> = run.split_whitespace().filter(|word| word.parse::<usize>().is_ok()).collect();
    assert!(matches!(counts[..], [shown, all] if shown == all && all != "0"), "{context}");
}

#[test]
fn dumps_of_postgres_serve_everywhere() {
    limited(|| {
        for (target, is_remade) in [("postgres", false), ("mariadb", true), ("replicas:2", true)] {
            check(POSTGRES, SHOP, target, is_remade);
        }
    });
}

#[test]
fn dumps_of_mariadb_serve_everywhere() {
    limited(|| {
        let shop = SHOP.replace('"', "`").replace("public.", "");
        for (target, is_remade) in [("mariadb", false), ("postgres", true), ("replicas:2", true)] {
            check(MARIADB, &shop, target, is_remade);
        }
    });
}
