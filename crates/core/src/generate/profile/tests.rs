use std::collections::BTreeSet;

use proptest::prelude::*;

use super::read::Registry;
use super::*;
use crate::generate::features::FEATURES;
use crate::generate::model::{Candidate, Choice, Distribution, Domain, Feature, Usual};
use crate::toml_text::FileError;

/// Features that stay what they are: the real ones come and go.
const TABLES: Feature = number("schema.tables", 1, 8);
const COLUMNS: Feature = number("schema.columns", 1, 16);
const ROWS: Feature = number("schema.rows", 0, 1000);
const NOT_NULL: Feature =
    Feature { name: "column.not_null", domain: Domain::Flag, default: Usual::Percent(20), what: "" };
const ENDING: Feature = Feature {
    name: "transaction.ending",
    domain: Domain::Words(&["commit", "rollback"]),
    default: Usual::Weights(&[("commit", 4), ("rollback", 1)]),
    what: "",
};
const REGISTRY: Registry<'static> = Registry {
    features: &[&TABLES, &COLUMNS, &ROWS, &NOT_NULL, &ENDING],
    profiles: &[
        ("base", "what = 'b'\n[schema]\ntables = 2\nrows = 7"),
        ("next", "extends = 'base'\n[schema]\nrows = 8"),
    ],
};

const fn number(name: &'static str, low: i64, high: i64) -> Feature {
    Feature { name, domain: Domain::Number(low, high), default: Usual::Range(1, 3), what: "" }
}

fn read(text: &str, file: &str) -> Result<Model, FileError> {
    REGISTRY.read(text, file)
}

fn choice_of(feature: &Feature, text: &str) -> Choice {
    read(text, "x.toml").unwrap_or_else(|error| panic!("{text}\n{error}")).choice(feature)
}

fn numbers(weights: &[(i64, u64)]) -> Choice {
    let (candidates, weights) = weights.iter().map(|(number, weight)| (Candidate::Number(*number), *weight)).unzip();
    Choice::new(candidates, &Distribution::Weighted(weights))
}

fn words(weights: &[(&'static str, u64)]) -> Choice {
    let (candidates, weights) = weights.iter().map(|(word, weight)| (Candidate::Word(word), *weight)).unzip();
    Choice::new(candidates, &Distribution::Weighted(weights))
}

#[test]
fn every_form_of_a_number() {
    let check = |value: &str, expect: &[(i64, u64)]| {
        let text = format!("[schema]\nrows = {value}");
        assert_eq!(choice_of(&ROWS, &text), numbers(expect), "{value}");
    };
    check("2", &[(2, 1)]);
    check("0x1f", &[(31, 1)]);
    check("1_000", &[(1000, 1)]);
    check("{ range = [1, 3] }", &[(1, 1), (2, 1), (3, 1)]);
    check("{ range = [4, 4] }", &[(4, 1)]);
    check("{ range = [1, 2], zipf = 1 }", &[(1, 1_000_000), (2, 500_000)]);
    check("{ candidates = [4, 1] }", &[(4, 1), (1, 1)]);
    check("{ candidates = [4, 1], weights = [3, 0] }", &[(4, 3), (1, 0)]);
    check("{ candidates = [4, 1, 2], zipf = 1.0 }", &[(4, 1_000_000), (1, 500_000), (2, 333_333)]);
    check("{ candidates = [4, 1], zipf = 0 }", &[(4, 1_000_000), (1, 1_000_000)]);
}

#[test]
fn every_form_of_a_word_and_of_a_flag() {
    let ending = |value: &str| choice_of(&ENDING, &format!("[transaction]\nending = {value}"));
    assert_eq!(ending("\"rollback\""), words(&[("rollback", 1)]));
    assert_eq!(ending("{ candidates = ['rollback', 'commit'] }"), words(&[("rollback", 1), ("commit", 1)]));
    // In the order of the file, not of the alphabet.
    assert_eq!(ending("{ weights = { rollback = 2, commit = 1 } }"), words(&[("rollback", 2), ("commit", 1)]));
    let zipf = ending("{ candidates = ['rollback', 'commit'], zipf = 2.0 }");
    assert_eq!(zipf, words(&[("rollback", 1_000_000), ("commit", 250_000)]));
    let flag = |value: &str| choice_of(&NOT_NULL, &format!("column.not_null = {value}"));
    assert_eq!(flag("true"), words(&[("true", 1)]));
    assert_eq!(flag("false"), words(&[("false", 1)]));
    assert_eq!(flag("{ percent = 25 }"), words(&[("true", 25), ("false", 75)]));
    assert_eq!(flag("{ percent = 0 }"), words(&[("true", 0), ("false", 100)]));
}

#[test]
fn a_profile_has_a_name_and_says_what_it_is() {
    let model = read("name = 'mine'\nwhat = 'a test'", "folder/other.toml").unwrap();
    assert_eq!((model.name.as_str(), model.what.as_str()), ("mine", "a test"));
    assert_eq!(read("", "folder/other.toml").unwrap().name, "other");
    assert_eq!(read("\u{feff}name = 'marked'\r\n", "x").unwrap().name, "marked");
}

#[test]
fn what_a_profile_says_replaces_what_it_extends() {
    let model = read("extends = 'next'\n[schema]\ncolumns = 5", "mine.toml").unwrap();
    let constant = |feature: &Feature, number| assert_eq!(model.choice(feature), numbers(&[(number, 1)]));
    constant(&TABLES, 2);
    constant(&ROWS, 8);
    constant(&COLUMNS, 5);
    assert_eq!(model.choice(&ENDING), ENDING.default.into());
    assert_eq!((model.name.as_str(), model.what.as_str()), ("mine", "b"));
}

#[test]
fn a_shipped_profile_extends_only_those_before_it() {
    let circle = Registry { profiles: &[("one", "[schema]\nrows = 1"), ("two", "extends = 'one'")], ..REGISTRY };
    assert!(circle.profile("two").is_some());
    let before = Registry { profiles: &circle.profiles[..0], ..REGISTRY };
    let error = before.read("extends = 'two'", "one").unwrap_err();
    assert!(error.to_string().contains("there is no profile \"two\" to extend"), "{error}");
}

#[test]
fn every_shipped_profile_reads_under_its_own_name() {
    for (name, text) in SHIPPED {
        let model = shipped(name).expect("it is shipped");
        assert_eq!(model.name, *name);
        assert!(!model.what.is_empty(), "{name} does not say what it is");
        assert!(super::read(text, name).is_ok());
    }
    assert_eq!(shipped("dt3"), None);
}

/// The complaints about a profile.
fn complaints(text: &str) -> String {
    match read(text, "p.toml") {
        Ok(model) => panic!("{text}: was read as {model:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_wrong_name_is_told_with_the_nearest_right_one() {
    let check = |text: &str, expect: &str| assert_eq!(complaints(text), expect, "{text}");
    let known = "(keys: name, what, extends; sections: schema, column, transaction)";
    check("nme = 'x'", &format!("p.toml:1:1: unknown section or key nme; did you mean name? {known}"));
    check("\n[shema]", &format!("p.toml:2:2: unknown section or key shema; did you mean schema? {known}"));
    check("[zoo]\nx = 1", &format!("p.toml:1:2: unknown section or key zoo {known}"));
    let features = "(features: tables, columns, rows)";
    let tables = format!("p.toml:2:1: unknown feature tabels in [schema]; did you mean tables? {features}");
    check("[schema]\ntabels = 2", &tables);
    check("[schema]\nending = 1", "p.toml:2:1: ending is no feature of [schema] but of [transaction]");
    let base = "p.toml:1:11: there is no profile \"bas\" to extend; did you mean base? (profiles: base, next)";
    check("extends = 'bas'", base);
    let words = "(words: commit, rollback)";
    let check = |value: &str, expect: &str| {
        assert_eq!(complaints(&format!("[transaction]\nending = {value}")), format!("p.toml:2:{expect} {words}"));
    };
    check("'comit'", "10: unknown word comit; did you mean commit?");
    check("{ candidates = ['x'] }", "26: unknown word x");
    check("{ weights = { rolback = 1 } }", "24: unknown word rolback; did you mean rollback?");
    check("7", "10: expected a word in quotes, found 7");
}

#[test]
fn a_wrong_value_is_told_with_what_would_be_right() {
    let check = |value: &str, expect: &str| {
        let error = complaints(&format!("[schema]\ntables = {value}"));
        assert_eq!(error, format!("p.toml:2:{expect}"), "{value}");
    };
    check("9", "10: expected a whole number from 1 to 8, found 9");
    check("0", "10: expected a whole number from 1 to 8, found 0");
    check("99999999999999999999", "10: expected a whole number from 1 to 8, found 99999999999999999999");
    check("2.5", "10: expected a whole number from 1 to 8, found 2.5");
    check("'two'", "10: expected a whole number from 1 to 8, found the text \"two\"");
    check("[1, 2]", "10: expected a whole number from 1 to 8, found a list");
    check("{ candidates = [] }", "25: there are no candidates: nothing could be chosen");
    check("{ candidates = 3 }", "25: expected a list of candidates, found 3");
    check("{ candidates = [1, 1] }", "29: 1 stands twice: give it a greater weight instead");
    check("{ range = [3, 1] }", "20: this range is upside down: expected [1, 3], found [3, 1]");
    check("{ range = [1, 2, 3] }", "20: expected the two ends of a range, such as [1, 5], found a list");
    check("{ range = [1, 99] }", "24: expected a whole number from 1 to 8, found 99");
    check("{ candidates = [1, 2], zipf = -1.0 }", "40: expected an exponent of 0 or more, such as 1.0, found -1.0");
    check("{ candidates = [1, 2], zipf = nan }", "40: expected an exponent of 0 or more, such as 1.0, found nan");
    check(
        "{ candidates = [1, 2], weights = [1] }",
        "43: expected one weight for each candidate: there are 2, but 1 weights",
    );
    check("{ candidates = [1, 2], weights = [0, 0] }", "43: all weights are 0: nothing could be chosen");
    check(
        "{ candidates = [1, 2], weights = [1, -2] }",
        "47: expected a weight, a whole number from 0 to 1000000, found -2",
    );
    let forms =
        "a number from 1 to 8, { range = [1, 8] } or { candidates = […] }, the latter with weights = […] or zipf = 1.0";
    check("{ percent = 5 }", &format!("12: schema.tables cannot be given by percent (expected {forms})"));
    check(
        "{ candidate = [1] }",
        &format!("12: schema.tables cannot be given by candidate; did you mean candidates? (expected {forms})"),
    );
    check("{ zipf = 1.0 }", &format!("10: schema.tables is not given by this: expected {forms}"));
    check("{ weights = [1] }", &format!("22: weights alone say nothing here: schema.tables needs {forms}"));
}

#[test]
fn flags_sections_and_metadata_have_their_types_too() {
    let check = |text: &str, expect: &str| assert_eq!(complaints(text), expect, "{text}");
    let flag = "true, false or { percent = 25 }";
    check("column.not_null = 1", &format!("p.toml:1:19: expected {flag}, found 1"));
    check("column.not_null = {}", &format!("p.toml:1:19: column.not_null is not given by this: expected {flag}"));
    let percent = "p.toml:1:31: expected a whole number from 0 to 100, found 101";
    check("column.not_null = { percent = 101 }", percent);
    check("schema = 3", "p.toml:1:10: schema is a section: write [schema] and its features below, not 3");
    check("name = 3", "p.toml:1:8: expected the name of the profile, in quotes, found 3");
    check("what = ' '", "p.toml:1:8: expected what the profile is, in a sentence, in quotes, found an empty text");
    let error = complaints("[transaction]\nending = { weights = { commit = 0 } }");
    assert_eq!(error, "p.toml:2:22: all weights are 0: nothing could be chosen");
    let error = complaints("[schema\n");
    assert!(error.starts_with("p.toml:1:8: this is not TOML: "), "{error}");
    let error = complaints("[schema]\nrows = 1\nrows = 2");
    assert!(error.starts_with("p.toml:3:1: this is not TOML: "), "{error}");
}

#[test]
fn all_problems_of_a_file_are_told_at_once() {
    let FileError { file, problems } =
        read("[schema]\ntables = 0\nrow = 1\n[columm]\n[transaction]\nending = 'x'", "p.toml").unwrap_err();
    assert_eq!(file, "p.toml");
    assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [2, 3, 4, 6]);
    assert_eq!(problems[1].text, "row = 1");
}

#[test]
fn what_is_printed_names_every_feature_and_reads_as_the_same_choices() {
    for (name, _) in SHIPPED {
        let model = shipped(name).unwrap();
        let printed = print(&model);
        let again = super::read(&printed, "p.toml").unwrap_or_else(|error| panic!("{printed}\n{error}"));
        assert_eq!((&again.name, &again.what), (&model.name, &model.what));
        for feature in FEATURES {
            assert_eq!(again.choice(feature), model.choice(feature), "{}\n{printed}", feature.name);
        }
        assert_eq!(print(&again), printed);
        let sections: Vec<&str> = printed.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(sections.len(), sections.iter().collect::<BTreeSet<_>>().len(), "{printed}");
    }
}

/// Any choice that a profile can express for a feature.
fn any_choice(feature: &'static Feature) -> impl Strategy<Value = Choice> {
    let all: Vec<Candidate> = match feature.domain {
        Domain::Number(low, high) => (low..=high.min(low + 20)).map(Candidate::Number).collect(),
        Domain::Words(words) => words.iter().map(|word| Candidate::Word(word)).collect(),
        Domain::Flag => vec![Candidate::Word("true"), Candidate::Word("false")],
    };
    let count = all.len();
    let weight = prop_oneof![Just(0u64), Just(1), 0..=1_000_000u64];
    let drawn = (Just(all).prop_shuffle(), 1..=count, prop::collection::vec(weight, count), 0..=100u64);
    drawn.prop_map(move |(mut candidates, length, mut weights, percent)| {
        if feature.domain == Domain::Flag {
            return words(&[("true", percent), ("false", 100 - percent)]);
        }
        candidates.truncate(length);
        weights.truncate(length);
        weights[0] = weights[0].max(1);
        Choice::new(candidates, &Distribution::Weighted(weights))
    })
}

fn any_model() -> impl Strategy<Value = Model> {
    let choices: Vec<_> = FEATURES.iter().map(|feature| prop::option::of(any_choice(feature))).collect();
    ("[a-z\"\\\\\n é]{1,8}", choices).prop_map(|(name, choices)| {
        let mut model = Model::usual(&format!("n{name}"));
        for (feature, choice) in FEATURES.iter().zip(choices) {
            choice.into_iter().for_each(|choice| model.set(feature, choice));
        }
        model
    })
}

/// Texts that are nearly profiles: they reach further than random ones.
fn nearly_a_profile() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "[schema]",
        "[transaction]",
        "\n",
        "tables",
        "rows",
        "ending",
        "name",
        "extends",
        " = ",
        "{ ",
        " }",
        "[",
        "]",
        ", ",
        "range",
        "candidates",
        "weights",
        "zipf",
        "percent",
        "1",
        "0",
        "-1",
        "1e400",
        "inf",
        "9223372036854775807",
        "'commit'",
        "\"dt2\"",
        "true",
        "é",
        "#",
        ".",
        "1979-05-27",
        "\"\"\"",
    ]);
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn models_survive_printing(model in any_model()) {
        let printed = print(&model);
        let again = super::read(&printed, "p.toml").map_err(|error| TestCaseError::fail(format!("{printed}\n{error}")))?;
        prop_assert_eq!(&again.name, &model.name);
        for feature in FEATURES {
            prop_assert_eq!(again.choice(feature), model.choice(feature), "{}", printed);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in prop_oneof![any::<String>(), nearly_a_profile()]) {
        if let Err(error) = read(&text, "p.toml") {
            prop_assert!(!error.problems.is_empty());
            for problem in &error.problems {
                prop_assert!(problem.line >= 1 && problem.line <= text.lines().count() + 1, "{:?}", problem);
            }
        }
    }
}
