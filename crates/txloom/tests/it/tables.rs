//! Tables in the documents are what the registries say.
//!
//! A table stands between `<!-- NAME -->` and `<!-- end -->`. `TXLOOM_UPDATE_GOLDEN=1` writes it anew.

use txloom_core::finding::known::Known;
use txloom_core::generate::features::FEATURES;
use txloom_core::generate::model::{Domain, Feature, Usual};
use txloom_core::generate::profile;

use crate::support::root;

/// Compares the table of that name in a document with what it must be.
pub(crate) fn check(file: &str, name: &str, table: &str) {
    let path = root().join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let (start, end) = (format!("<!-- {name} -->\n"), "<!-- end -->\n");
    let (before, rest) = text.split_once(&start).unwrap_or_else(|| panic!("{file} has no {start}"));
    let (inside, after) = rest.split_once(end).unwrap_or_else(|| panic!("{file}: {start} has no {end}"));
    if std::env::var_os("TXLOOM_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{before}{start}{table}{end}{after}")).expect("the document can be written");
        return;
    }
    assert!(inside == table, "{file}: the table {name} differs; run with TXLOOM_UPDATE_GOLDEN=1.\n{table}");
}

/// Rows of cells, below a head.
fn markdown(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head_line = line(head.iter().map(|cell| (*cell).to_string()).collect());
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    rows.into_iter().map(line).fold(head_line + &rule, |table, row| table + &row)
}

fn domain(feature: &Feature) -> String {
    match feature.domain {
        Domain::Number(low, high) => format!("{low} to {high}"),
        Domain::Words(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Domain::Flag => "yes or no".to_string(),
    }
}

fn usual(feature: &Feature) -> String {
    match feature.default {
        Usual::Range(low, high) if low == high => low.to_string(),
        Usual::Range(low, high) => format!("{low} to {high}"),
        Usual::Weights(weights) => {
            let weight = |(word, weight): &(&str, u64)| format!("{word} {weight}");
            weights.iter().map(weight).collect::<Vec<_>>().join(", ")
        }
        Usual::Percent(percent) => format!("{percent} %"),
    }
}

/// One test for both tables: written anew, they must not get in each other's way.
#[test]
fn features_and_profiles() {
    let row = |feature: &&Feature| {
        vec![format!("`{}`", feature.name), feature.what.to_string(), domain(feature), usual(feature)]
    };
    let features = markdown(&["feature", "what it decides", "candidates", "as usual"], FEATURES.iter().map(row));
    check("docs/reference/profiles.md", "features", &features);
    let row = |(name, _): &(&str, &str)| vec![format!("`{name}`"), profile::shipped(name).expect("it is shipped").what];
    let profiles = markdown(&["profile", "what it is"], profile::SHIPPED.iter().map(row));
    check("docs/reference/profiles.md", "profiles", &profiles);
}

#[test]
fn known_behaviours() {
    let shipped = Known::shipped();
    let rows = shipped.entries().iter().map(|entry| vec![entry.id.clone(), entry.what.clone(), entry.source.clone()]);
    check("docs/reference/known.md", "known", &markdown(&["id", "what happens", "source"], rows));
}
