//! The value of a feature: every way of giving candidates and a distribution.
//!
//! ```text
//!   2, true, "int"                        a constant
//!   { range = [1, 5] }                    numbers from 1 to 5; uniform, or with zipf = S
//!   { candidates = [1, 2, 4] }            uniform, or with zipf = S, or with weights = [3, 2, 1]
//!   { weights = { int = 5, date = 3 } }   words with their weights
//!   { percent = 25 }                      yes, in so many of a hundred cases
//! ```

use toml::de::{DeTable, DeValue};

use crate::generate::model::{Candidate, Choice, Distribution, Domain, Feature};
use crate::suggest;
use crate::toml_text::{Reader, Value, entries, found, integer};

/// No weight is greater: sums of weights stay far from overflowing, and no chance smaller than this is of use.
pub(super) const WEIGHT_MAX: i64 = 1_000_000;
/// No range is longer: each of its numbers is a candidate.
const RANGE_MAX: i64 = 10_000;

/// Reads the value of a feature; `None` if it was complained about.
pub(super) fn choice(reader: &mut Reader<'_>, feature: &Feature, value: &Value<'_>) -> Option<Choice> {
    match value.get_ref() {
        DeValue::Table(table) => distributed(reader, feature, table, value),
        _ => Some(Choice::new(vec![candidate(reader, feature, value)?], &Distribution::Uniform)),
    }
}

/// The parts of a table that a domain has a use for.
fn parts(domain: Domain) -> &'static [&'static str] {
    match domain {
        Domain::Number(..) => &["range", "candidates", "weights", "zipf"],
        Domain::Words(_) => &["candidates", "weights", "zipf"],
        Domain::Flag => &["percent"],
    }
}

/// All ways in which a feature can be written.
fn usage(feature: &Feature) -> String {
    match feature.domain {
        Domain::Number(low, high) => format!(
            "a number from {low} to {high}, {{ range = [{low}, {high}] }} or {{ candidates = […] }}, \
             the latter with weights = […] or zipf = 1.0"
        ),
        Domain::Words(_) => "a word, { candidates = […] } with or without zipf = 1.0, \
                             or { weights = { WORD = 1, … } }"
            .to_string(),
        Domain::Flag => "true, false or { percent = 25 }".to_string(),
    }
}

fn distributed(reader: &mut Reader<'_>, feature: &Feature, table: &DeTable<'_>, whole: &Value<'_>) -> Option<Choice> {
    let known = parts(feature.domain);
    let strange = entries(table).into_iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref()));
    if let Some((key, _)) = strange {
        let name = key.get_ref();
        let hint = suggest::hint(name, known.iter().copied());
        let message = format!("{} cannot be given by {name}{hint} (expected {})", feature.name, usage(feature));
        reader.complain(key.span(), message);
        return None;
    }
    let part = |name: &str| table.get(name);
    match (part("percent"), part("range"), part("candidates"), part("weights"), part("zipf")) {
        (Some(percent), None, None, None, None) => flag(reader, percent),
        (None, Some(range), None, None, zipf) => {
            let distribution = ranked(reader, zipf);
            Some(Choice::new(numbers(reader, feature, range)?, &distribution?))
        }
        (None, None, Some(list), None, zipf) => {
            let distribution = ranked(reader, zipf);
            Some(Choice::new(candidates(reader, feature, list)?, &distribution?))
        }
        (None, None, Some(list), Some(weights), None) => {
            let candidates = candidates(reader, feature, list);
            let weights = weight_list(reader, weights, candidates.as_ref().map(Vec::len));
            Some(Choice::new(candidates?, &Distribution::Weighted(weights?)))
        }
        (None, None, None, Some(weights), None) => weighted_words(reader, feature, weights),
        _ => {
            reader
                .complain(whole.span(), format!("{} is not given by this: expected {}", feature.name, usage(feature)));
            None
        }
    }
}

fn candidate(reader: &mut Reader<'_>, feature: &Feature, value: &Value<'_>) -> Option<Candidate> {
    match (feature.domain, value.get_ref()) {
        (Domain::Number(low, high), _) => {
            let number = integer(value).filter(|number| (low..=high).contains(number));
            if number.is_none() {
                let message = format!("expected a whole number from {low} to {high}, found {}", found(value));
                reader.complain(value.span(), message);
            }
            number.map(Candidate::Number)
        }
        (Domain::Words(words), DeValue::String(text)) => word(reader, words, text, value.span()),
        (Domain::Words(words), _) => {
            let message = format!("expected a word in quotes, found {} (words: {})", found(value), words.join(", "));
            reader.complain(value.span(), message);
            None
        }
        (Domain::Flag, DeValue::Boolean(flag)) => Some(Candidate::Word(if *flag { "true" } else { "false" })),
        (Domain::Flag, _) => {
            reader.complain(value.span(), format!("expected {}, found {}", usage(feature), found(value)));
            None
        }
    }
}

fn word(
    reader: &mut Reader<'_>,
    words: &'static [&'static str],
    text: &str,
    place: std::ops::Range<usize>,
) -> Option<Candidate> {
    let known = words.iter().find(|word| **word == text);
    if known.is_none() {
        let hint = suggest::hint(text, words.iter().copied());
        reader.complain(place, format!("unknown word {text}{hint} (words: {})", words.join(", ")));
    }
    known.map(|word| Candidate::Word(word))
}

/// A list of candidates: not empty, none of them twice.
fn candidates(reader: &mut Reader<'_>, feature: &Feature, list: &Value<'_>) -> Option<Vec<Candidate>> {
    let Some(values) = list.get_ref().as_array() else {
        reader.complain(list.span(), format!("expected a list of candidates, found {}", found(list)));
        return None;
    };
    if values.is_empty() {
        reader.complain(list.span(), "there are no candidates: nothing could be chosen");
        return None;
    }
    let mut candidates = Vec::new();
    let mut sound = true;
    for value in values.iter() {
        match candidate(reader, feature, value) {
            Some(twice) if candidates.contains(&twice) => {
                reader
                    .complain(value.span(), format!("{} stands twice: give it a greater weight instead", found(value)));
                sound = false;
            }
            Some(candidate) => candidates.push(candidate),
            None => sound = false,
        }
    }
    sound.then_some(candidates)
}

/// All numbers of `[LOW, HIGH]`.
fn numbers(reader: &mut Reader<'_>, feature: &Feature, range: &Value<'_>) -> Option<Vec<Candidate>> {
    let ends = range.get_ref().as_array().map(|ends| ends.iter().collect::<Vec<_>>());
    let Some([low, high]) = ends.as_deref() else {
        let message = format!("expected the two ends of a range, such as [1, 5], found {}", found(range));
        reader.complain(range.span(), message);
        return None;
    };
    let (low, high) = (candidate(reader, feature, low), candidate(reader, feature, high));
    let (Candidate::Number(low), Candidate::Number(high)) = (low?, high?) else { return None };
    if low > high {
        let message = format!("this range is upside down: expected [{high}, {low}], found [{low}, {high}]");
        reader.complain(range.span(), message);
        return None;
    }
    if high.saturating_sub(low) >= RANGE_MAX {
        reader
            .complain(range.span(), format!("expected a range of at most {RANGE_MAX} numbers, found [{low}, {high}]"));
        return None;
    }
    Some((low..=high).map(Candidate::Number).collect())
}

/// The distribution of candidates without weights.
fn ranked(reader: &mut Reader<'_>, zipf: Option<&Value<'_>>) -> Option<Distribution> {
    let Some(value) = zipf else { return Some(Distribution::Uniform) };
    let number = match value.get_ref() {
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        _ => integer(value).map(|number| number as f64),
    };
    let exponent = number.filter(|number| number.is_finite() && *number >= 0.0);
    if exponent.is_none() {
        reader
            .complain(value.span(), format!("expected an exponent of 0 or more, such as 1.0, found {}", found(value)));
    }
    exponent.map(Distribution::Zipf)
}

fn weight(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<u64> {
    let weight = integer(value).filter(|weight| (0..=WEIGHT_MAX).contains(weight));
    if weight.is_none() {
        let message = format!("expected a weight, a whole number from 0 to {WEIGHT_MAX}, found {}", found(value));
        reader.complain(value.span(), message);
    }
    weight.map(i64::unsigned_abs)
}

/// `[3, 1]`, one weight for each candidate.
fn weight_list(reader: &mut Reader<'_>, list: &Value<'_>, candidate_count: Option<usize>) -> Option<Vec<u64>> {
    let Some(values) = list.get_ref().as_array() else {
        reader.complain(
            list.span(),
            format!("expected a list of weights, one for each candidate, found {}", found(list)),
        );
        return None;
    };
    let weights: Vec<Option<u64>> = values.iter().map(|value| weight(reader, value)).collect();
    let weights = weights.into_iter().collect::<Option<Vec<u64>>>()?;
    let count = candidate_count?;
    if weights.len() != count {
        let message =
            format!("expected one weight for each candidate: there are {count}, but {} weights", weights.len());
        reader.complain(list.span(), message);
        return None;
    }
    possible(reader, list, weights)
}

/// `{ int = 5, varchar = 3 }`.
fn weighted_words(reader: &mut Reader<'_>, feature: &Feature, table: &Value<'_>) -> Option<Choice> {
    let (Domain::Words(words), Some(weights)) = (feature.domain, table.get_ref().as_table()) else {
        let message = format!("weights alone say nothing here: {} needs {}", feature.name, usage(feature));
        reader.complain(table.span(), message);
        return None;
    };
    let mut read = Vec::new();
    for (key, value) in entries(weights) {
        read.push((word(reader, words, key.get_ref(), key.span()), weight(reader, value)));
    }
    let sound = read.into_iter().map(|(word, weight)| word.zip(weight)).collect::<Option<Vec<_>>>()?;
    let (candidates, weights): (Vec<_>, Vec<_>) = sound.into_iter().unzip();
    let weights = possible(reader, table, weights)?;
    Some(Choice::new(candidates, &Distribution::Weighted(weights)))
}

/// Weights of which one at least is not 0.
fn possible(reader: &mut Reader<'_>, place: &Value<'_>, weights: Vec<u64>) -> Option<Vec<u64>> {
    if weights.iter().all(|weight| *weight == 0) {
        let message = if weights.is_empty() { "there are no weights" } else { "all weights are 0" };
        reader.complain(place.span(), format!("{message}: nothing could be chosen"));
        return None;
    }
    Some(weights)
}

fn flag(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Choice> {
    let percent = integer(value).filter(|percent| (0..=100).contains(percent)).map(i64::unsigned_abs);
    if percent.is_none() {
        reader.complain(value.span(), format!("expected a whole number from 0 to 100, found {}", found(value)));
    }
    let percent = percent?;
    let words = vec![Candidate::Word("true"), Candidate::Word("false")];
    Some(Choice::new(words, &Distribution::Weighted(vec![percent, 100 - percent])))
}
