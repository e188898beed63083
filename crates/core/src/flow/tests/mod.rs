//! The paper's examples, the shapes of graphs, and random applications against brute force.

mod examples;
mod shapes;
mod random;

use super::*;

/// The labels of all schedules.
fn labels(text: &str) -> Vec<String> {
    let application = parse(text).unwrap();
    schedules(&application).iter().map(|schedule| schedule.label(&application)).collect()
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    assert_eq!(labels(text), expect, "{text}");
}

/// Schedules with the patterns, elements and phenomena of their reasons.
fn reasons(text: &str) -> Vec<String> {
    let application = parse(text).unwrap();
    let mut lines = Vec::new();
    for schedule in schedules(&application) {
        for reason in &schedule.reasons {
            let (pattern, element, phenomenon) = (reason.pattern, &reason.element, reason.phenomenon.code());
            lines.push(format!("{} {pattern} {element} {phenomenon}", schedule.label(&application)));
        }
    }
    lines
}

/// The stories of all schedules.
fn stories(text: &str) -> String {
    let application = parse(text).unwrap();
    let tell = |schedule: &Schedule| {
        let stories = schedule.explain(&application);
        stories.iter().map(|story| format!("{} {story}\n", schedule.label(&application))).collect::<String>()
    };
    schedules(&application).iter().map(tell).collect()
}
