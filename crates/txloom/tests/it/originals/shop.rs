//! The web shop of `examples/shop`, run for real, under load, with the statement log on; and what that log tells.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use txloom_core::program::front::Definitions;

use super::place::Place;
use super::tools;
use crate::programs::reset;
use crate::support::{TestDir, limited, output, root};

/// How often the customers come back, if no update was lost. One visit loses dozens.
const VISITS_MAX: u64 = 5;

/// The shop, open until this is dropped.
struct OpenShop {
    server: Child,
    url: String,
}

impl OpenShop {
    fn open(place: &Place) -> OpenShop {
        let dir = place.socket().parent().expect("the socket lies in a folder").display();
        let database = format!("postgresql+psycopg://postgres@/postgres?host={dir}");
        let mut command = Command::new(tools::python());
        command.args(["-B", "app.py", "--port", "0", "--database", &database]).current_dir(folder());
        let mut server = command.stdout(Stdio::piped()).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut url = String::new();
        let said = server.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut url));
        assert!(matches!(said, Some(Ok(count)) if count > 0), "the shop says where it is");
        OpenShop { server, url: url.trim().to_string() }
    }

    /// Customers come; gives what they say of it.
    fn load(&self, seed: u64) -> serde_json::Value {
        let mut command = Command::new(tools::python());
        command.args(["-B", "load.py", &self.url, "--seed", &seed.to_string()]).current_dir(folder());
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("it prints JSON")
    }
}

impl Drop for OpenShop {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn folder() -> PathBuf {
    root().join("examples/shop")
}

/// Runs the shop until it has lost an update; gives the server's log.
fn log_of_the_shop() -> String {
    let mut place = Place::logging("postgres");
    let schema = std::fs::read_to_string(folder().join("schema.sql")).expect("the shop has tables");
    reset(place.engine(), &Definitions::read(&schema).setup);
    place.statements_of(|place| {
        let shop = OpenShop::open(place);
        let mut reports = (1..=VISITS_MAX).map(|seed| shop.load(seed));
        let report = reports.find(|report| report["wrong"] != serde_json::json!({})).expect("updates are lost");
        assert_eq!(report["answers"]["500"], serde_json::Value::Null, "{report}");
    })
}

/// The part of a report that is about an anomaly.
fn anomaly<'r>(report: &'r str, heading: &str, about: &str) -> Option<&'r str> {
    report.split("\n\n").find(|part| part.contains(heading) && part.contains(about))
}

/// Nobody shows us `app.py`. The statements of the lost update are those of `buy`: what it reads, and what it writes.
#[test]
fn the_lost_update_of_the_shop_is_found_from_its_log_alone() {
    tools::python();
    limited(|| {
        let log = log_of_the_shop();
        let (read, write) =
            ("SELECT name, price, stock FROM products WHERE id = $1", "UPDATE products SET stock = $1 WHERE id = $2");
        for statement in [read, write] {
            assert!(log.matches(statement).count() > 50, "{statement}");
        }
        let directory = TestDir::new("shop-log");
        let log = directory.file("postgresql.log", &log);
        let schema = folder().join("schema.sql").display().to_string();
        // Three statements of two calls are enough for a lost update; without these limits it takes longer.
        let limits = ["--length", "3", "--instances", "2", "--level", "read-committed", "--on", "postgres"];
        let done = output(&[&["analyze", log.as_str(), "--schema", &schema], &limits[..]].concat());
        assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
        let found = anomaly(&done.stdout, "[lost update] Warning: two calls of", "overwrites products.stock");
        let found = found.unwrap_or_else(|| panic!("{}{}", done.stdout, done.stderr));
        for said in [read, write, "reads products.stock", "overwrites products.stock"] {
            assert!(found.contains(said), "{said}: {found}");
        }
        // The wallets are right: what is added in the database, or read under a lock, loses nothing.
        assert_eq!(anomaly(&done.stdout, "[lost update]", "overwrites customers.wallet"), None);
    });
}
