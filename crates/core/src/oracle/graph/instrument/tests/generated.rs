//! Generated cases: whatever is made of them can be read again.

use super::*;
use crate::dialect::{Dialect, LockingSqlite, MySql, Postgres};
use crate::engine::{Capabilities, EngineInfo, Version};
use crate::generate::{Demands, Generator, profile};
use crate::level::LevelName;

fn target(family: &'static str, dialect: &'static dyn Dialect, version: &str) -> EngineInfo {
    let level = LevelName::custom("serializable");
    EngineInfo {
        target: family.to_string(),
        family,
        version: Version::parse(version),
        settings: Vec::new(),
        dialect,
        default_level: level.clone(),
        levels: vec![level],
        capabilities: Capabilities::default(),
        client: None,
    }
}

#[test]
fn generated_cases_are_followed_or_refused() {
    let targets: [EngineInfo; 3] = [
        target("postgres", &Postgres, "15.18"),
        target("mariadb", &MySql, "10.11.14-MariaDB"),
        target("model", &LockingSqlite, "0.1.0"),
    ];
    let demands = Demands { reorderable: true, assertions: false };
    let mut followed = 0;
    for target in targets {
        let model = profile::shipped("dt2").expect("the profile is shipped");
        let generator = Generator::new(model, &[target], demands, &[], 1).unwrap_or_else(|error| panic!("{error}"));
        for case in (0..8).flat_map(|number| generator.group(number).cases) {
            let Ok(prepared) = prepare(&case) else { continue };
            followed += 1;
            check_readable(&prepared);
        }
    }
    assert!(followed > 100, "{followed}");
}

/// All that was made can be read again.
fn check_readable(prepared: &Prepared) {
    let readable = |sql: &str| assert!(Parsed::read(sql).is_ok(), "{sql}");
    for session in prepared.case.sessions() {
        for (index, item) in session.items.iter().enumerate() {
            let step = StepRef { session: session.name.clone(), index };
            if prepared.targets.contains_key(&step) {
                readable(&item.to_string());
            }
            for view in [View::Plain, View::Locking] {
                let reads = prepared.reads(&step, view);
                reads.before.iter().chain(&reads.after).for_each(|read| readable(&read.sql));
            }
        }
    }
}
