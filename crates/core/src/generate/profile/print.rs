//! From a model to the text of a profile that reads as the same model.

use std::fmt::Write as _;

use crate::generate::features::FEATURES;
use crate::generate::model::{Candidate, Choice, Domain, Model};

/// A model as a profile. It names every feature, also those that are as usual.
pub fn print(model: &Model) -> String {
    let mut text = format!("name = {}\n", quoted(&model.name));
    if !model.what.is_empty() {
        let _ = writeln!(text, "what = {}", quoted(&model.what));
    }
    let mut current = "";
    let mut features = FEATURES.to_vec();
    // A section may stand only once in a file.
    features.sort_by_key(|feature| FEATURES.iter().position(|first| section(first.name) == section(feature.name)));
    for feature in features {
        let (section, key) = feature.name.split_once('.').unwrap_or(("", feature.name));
        if section != current {
            let _ = write!(text, "\n[{section}]\n");
            current = section;
        }
        let _ = writeln!(text, "{key} = {}", value(feature.domain, &model.choice(feature)));
    }
    text
}

fn section(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The shortest form that reads as exactly these candidates with these weights.
fn value(domain: Domain, choice: &Choice) -> String {
    let all: Vec<(Candidate, u64)> = choice.weights().collect();
    let list = |texts: Vec<String>| format!("[{}]", texts.join(", "));
    let candidates = || list(all.iter().map(|(candidate, _)| literal(domain, *candidate)).collect());
    let weights = || list(all.iter().map(|(_, weight)| weight.to_string()).collect());
    let uniform = all.iter().all(|(_, weight)| *weight == 1);
    match (domain, all.as_slice()) {
        (_, [(only, 1)]) => literal(domain, *only),
        (Domain::Flag, [(_, percent), _]) => format!("{{ percent = {percent} }}"),
        (Domain::Number(..), [(Candidate::Number(low), _), .., (Candidate::Number(high), _)])
            if uniform && is_range(&all) =>
        {
            format!("{{ range = [{low}, {high}] }}")
        }
        _ if uniform => format!("{{ candidates = {} }}", candidates()),
        (Domain::Words(_), _) => {
            let entry = |(candidate, weight): &(Candidate, u64)| match candidate {
                Candidate::Word(word) => format!("{} = {weight}", key(word)),
                Candidate::Number(number) => format!("{number} = {weight}"),
            };
            format!("{{ weights = {{ {} }} }}", all.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        _ => format!("{{ candidates = {}, weights = {} }}", candidates(), weights()),
    }
}

fn is_range(all: &[(Candidate, u64)]) -> bool {
    all.windows(2).all(|pair| match (pair[0].0, pair[1].0) {
        (Candidate::Number(one), Candidate::Number(next)) => one.checked_add(1) == Some(next),
        _ => false,
    })
}

fn literal(domain: Domain, candidate: Candidate) -> String {
    match (domain, candidate) {
        (_, Candidate::Number(number)) => number.to_string(),
        (Domain::Flag, Candidate::Word(word)) => word.to_string(),
        (_, Candidate::Word(word)) => quoted(word),
    }
}

/// A word as a key: bare where TOML allows it.
fn key(word: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !word.is_empty() && word.chars().all(bare) { word.to_string() } else { quoted(word) }
}

/// A text as TOML writes it: on one line, whatever it holds.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
