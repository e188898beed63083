//! Unique keys and indexes, made of whole attributes.

use super::Table;
use crate::generate::features;
use crate::generate::model::Model;
use crate::generate::random::Random;

/// One or more columns of one type.
pub(super) struct Attribute {
    pub(super) columns: Vec<usize>,
    /// Whether keys and indexes may have it.
    pub(super) in_keys: bool,
}

/// Adds unique keys and indexes of a table's attributes.
pub(super) fn add(table: &mut Table, attributes: &[Attribute], model: &Model, random: &mut Random) {
    let attributes: Vec<&[usize]> =
        attributes.iter().filter(|attribute| attribute.in_keys).map(|attribute| attribute.columns.as_slice()).collect();
    for _ in 0..model.count(&features::UNIQUE_KEYS, random) {
        let key = some(&attributes, model.count(&features::UNIQUE_KEY_SIZE, random), random);
        if is_new(table, &key) {
            table.unique_keys.push(key);
        }
    }
    for _ in 0..model.count(&features::INDEXES, random) {
        let index = some(&attributes, model.count(&features::INDEX_SIZE, random), random);
        if is_new(table, &index) {
            table.indexes.push(index);
        }
    }
}

/// The columns of some of the attributes, in any order.
fn some(attributes: &[&[usize]], count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..attributes.len()).collect();
    random.shuffle(&mut order);
    order.iter().take(count).flat_map(|at| attributes[*at].iter().copied()).collect()
}

/// MySQL warns of two indexes of the same columns.
fn is_new(table: &Table, columns: &Vec<usize>) -> bool {
    !columns.is_empty()
        && *columns != table.primary_key
        && !table.unique_keys.contains(columns)
        && !table.indexes.contains(columns)
}
