//! The web shop of `examples/shop`, run for real, under load, with the statement log on.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use txloom_core::program::front::Definitions;

use super::place::Place;
use super::tools;
use crate::programs::reset;
use crate::support::{limited, root};

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
pub(crate) fn log_of_the_shop() -> String {
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

#[test]
fn the_shop_loses_updates_and_its_log_has_the_statements() {
    tools::python();
    limited(|| {
        let log = log_of_the_shop();
        for statement in ["SELECT name, price, stock FROM products WHERE id = $1", "UPDATE products SET stock = $1"] {
            assert!(log.matches(statement).count() > 50, "{statement}");
        }
    });
}
