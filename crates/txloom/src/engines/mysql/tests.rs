//! Tests with a real MariaDB. Tests that run at the same time share one server, in turns.

use std::sync::{Mutex, PoisonError, Weak};
use std::time::Instant;

use super::*;
use crate::servers::mysql::Product;
use crate::servers::{Programs, ServerOptions};
use txloom_core::case::SessionName;
use txloom_core::engine::{Engine, SessionSpec};

fn start() -> MySqlEngine {
    let (product, programs) = match std::env::var("TXLOOM_TEST_MYSQL") {
        Ok(dir) if dir.contains("mysql") => (Product::MySql, Programs::Dir(dir.into())),
        Ok(dir) => (Product::MariaDb, Programs::Dir(dir.into())),
        Err(_) => (Product::MariaDb, Programs::Newest),
    };
    let server = PrivateMySql::start(product, &programs, ServerOptions::default()).unwrap();
    MySqlEngine::start_private("mariadb", server).unwrap()
}

fn with_engine<R>(test: impl FnOnce(&mut MySqlEngine) -> R) -> R {
    static SHARED: Mutex<Weak<Mutex<MySqlEngine>>> = Mutex::new(Weak::new());
    let engine = {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let engine = Arc::new(Mutex::new(start()));
            *shared = Arc::downgrade(&engine);
            engine
        })
    };
    let mut engine = engine.lock().unwrap_or_else(PoisonError::into_inner);
    test(&mut engine)
}

fn spec(n: usize, level: Option<&str>) -> SessionSpec {
    let name = SessionName::new(&format!("s{n}")).unwrap();
    SessionSpec { id: SessionId(n), name, node: None, level: level.map(LevelName::custom) }
}

#[test]
fn bench_pieces() {
    let t = Instant::now();
    let mut e = start();
    eprintln!("start {:?} {} {}", t.elapsed(), e.info.family, e.info.version.text);
    let setup: Vec<String> = ["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20)"]
        .map(String::from)
        .into();
    for round in 0..6 {
        let mut parts = [Duration::ZERO; 5];
        let n = 100;
        let mut resets = Vec::new();
        for _ in 0..n {
            let t0 = Instant::now();
            e.reset(&setup).unwrap();
            let t1 = Instant::now();
            resets.push(t1 - t0);
            let mut a = e.open(&spec(0, Some("repeatable read"))).unwrap();
            let mut b = e.open(&spec(1, Some("repeatable read"))).unwrap();
            let t2 = Instant::now();
            for s in [&mut a, &mut b] {
                s.execute("BEGIN").unwrap();
            }
            a.execute("UPDATE t SET v = v + 1 WHERE id = 1").unwrap();
            b.execute("UPDATE t SET v = v + 1 WHERE id = 2").unwrap();
            a.execute("SELECT * FROM t").unwrap();
            b.execute("SELECT * FROM t").unwrap();
            a.execute("COMMIT").unwrap();
            b.execute("COMMIT").unwrap();
            let t3 = Instant::now();
            drop((a, b));
            let t4 = Instant::now();
            e.snapshot().unwrap();
            let t5 = Instant::now();
            for (i, (x, y)) in [(t0, t1), (t1, t2), (t2, t3), (t3, t4), (t4, t5)].into_iter().enumerate() {
                parts[i] += y - x;
            }
        }
        resets.sort();
        eprintln!("reset p10 {:?} median {:?} p90 {:?} max {:?}", resets[10], resets[50], resets[90], resets[99]);
        eprintln!(
            "case {round} reset {:?} open {:?} steps {:?} drop {:?} snapshot {:?} = {:?}",
            parts[0] / n,
            parts[1] / n,
            parts[2] / n,
            parts[3] / n,
            parts[4] / n,
            parts.iter().sum::<Duration>() / n
        );
    }
    let t = Instant::now();
    drop(e);
    eprintln!("drop {:?}", t.elapsed());
}
