//! From a [`Spec`] to text: reading what is printed gives the same spec.

use std::fmt::Write;

use super::lex::{KEYWORDS, is_name_part, is_name_start};
use super::{Marker, Permutation, Spec, SpecSession};

/// Prints a `.spec` file.
pub fn print(spec: &Spec) -> String {
    let mut text = String::new();
    print_prose(&mut text, &spec.prose);
    if !spec.prose.is_empty() {
        text.push('\n');
    }
    for setup in &spec.setup {
        print_block(&mut text, "setup", setup);
        text.push('\n');
    }
    if let Some(teardown) = &spec.teardown {
        print_block(&mut text, "teardown", teardown);
        text.push('\n');
    }
    for session in &spec.sessions {
        print_session(&mut text, session);
        text.push('\n');
    }
    for permutation in &spec.permutations {
        print_prose(&mut text, &permutation.prose);
        print_permutation(&mut text, spec, permutation);
    }
    text
}

fn print_prose(text: &mut String, prose: &[String]) {
    for line in prose {
        let _ = writeln!(text, "#{line}");
    }
}

fn print_session(text: &mut String, session: &SpecSession) {
    let _ = writeln!(text, "session {}", quote(&session.name));
    if let Some(setup) = &session.setup {
        print_block(text, "setup", setup);
    }
    for step in &session.steps {
        print_block(text, &format!("step {}", quote(&step.name)), &step.sql);
    }
    if let Some(teardown) = &session.teardown {
        print_block(text, "teardown", teardown);
    }
}

fn print_block(text: &mut String, head: &str, sql: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{head} {{ {sql} }}");
}

fn print_permutation(text: &mut String, spec: &Spec, permutation: &Permutation) {
    text.push_str("permutation");
    for step in &permutation.steps {
        let _ = write!(text, " {}", quote(&spec.step(step.at).name));
        let name = |at| quote(&spec.step(at).name);
        let marker = |marker: &Marker| match *marker {
            Marker::Once => "*".to_string(),
            Marker::Step(other) => name(other),
            Marker::Notices(other, count) => format!("{} notices {count}", name(other)),
        };
        let markers: Vec<String> = step.markers.iter().map(marker).collect();
        if !markers.is_empty() {
            let _ = write!(text, "({})", markers.join(", "));
        }
    }
    text.push('\n');
}

/// A name as it must be written.
fn quote(name: &str) -> String {
    let is_plain = name.starts_with(is_name_start) && name.chars().all(is_name_part) && !KEYWORDS.contains(&name);
    if is_plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
