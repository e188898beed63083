//! Names for procedures, made of what they do.

use std::collections::BTreeSet;

use super::shape::Shape;
use super::template::{COMMIT, Template};

/// So many statements are named; the others are counted.
const NAMED: usize = 4;

/// `select_items_update_items`; a number behind it if that name is taken.
pub(super) fn name(shape: &Shape, templates: &[Template], taken: &mut BTreeSet<String>) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for id in &shape.sequence {
        let part = templates[*id as usize].name.as_str();
        if parts.last() != Some(&part) && *id != COMMIT {
            parts.push(part);
        }
    }
    let more = parts.len().saturating_sub(NAMED);
    parts.truncate(NAMED);
    let mut wanted = parts.join("_");
    if more > 0 {
        wanted += &format!("_and_{more}_more");
    }
    let numbered = std::iter::once(wanted.clone()).chain((2..).map(|number| format!("{wanted}_{number}")));
    let name = numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or(wanted);
    taken.insert(name.clone());
    name
}
