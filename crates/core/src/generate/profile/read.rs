//! From text to a model: names, sections, and which feature a key is.

use super::choice::choice;
use super::{ProfileError, SHIPPED};
use crate::generate::features::FEATURES;
use crate::generate::model::{Feature, Model};
use crate::suggest;
use crate::toml_text::{Key, Reader, Value, entries, found};

/// What a profile says of itself, before its sections.
const KEYS: &[&str] = &["name", "what", "extends"];

/// Reads a profile; `file` is its name in messages.
pub fn read(text: &str, file: &str) -> Result<Model, ProfileError> {
    Registry { features: FEATURES, profiles: SHIPPED }.read(text, file)
}

/// What a profile may name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Registry<'r> {
    /// The features.
    pub(super) features: &'r [&'r Feature],
    /// The profiles that it may extend.
    pub(super) profiles: &'r [(&'r str, &'r str)],
}

impl Registry<'_> {
    /// Reads a profile.
    pub(super) fn read(&self, text: &str, file: &str) -> Result<Model, ProfileError> {
        let (mut reader, table) = Reader::open(text, file)?;
        let entries = entries(&table);
        let mut model = match entries.iter().find(|(key, _)| key.get_ref() == "extends") {
            Some((_, value)) => self.extended(&mut reader, value),
            None => Model::usual(""),
        };
        // A profile is known by its own name, or by that of its file, not by the name of what it extends.
        model.name = stem(file).to_string();
        for (key, value) in entries {
            match key.get_ref().as_ref() {
                "name" => {
                    if let Some(name) = reader.string(value, "the name of the profile") {
                        model.name = name.to_string();
                    }
                }
                "what" => {
                    if let Some(what) = reader.string(value, "what the profile is, in a sentence") {
                        model.what = what.to_string();
                    }
                }
                "extends" => {}
                name => self.section(&mut reader, &mut model, name, key, value),
            }
        }
        reader.finish(model)
    }

    /// The profile of that name. It may itself extend only those before it: there are no circles.
    pub(super) fn profile(&self, name: &str) -> Option<Model> {
        let position = self.profiles.iter().position(|(profile, _)| *profile == name)?;
        let before = Registry { profiles: &self.profiles[..position], ..*self };
        Some(before.read(self.profiles[position].1, name).expect("a test reads every profile that is shipped"))
    }

    fn extended(&self, reader: &mut Reader<'_>, value: &Value<'_>) -> Model {
        let Some(name) = reader.string(value, "the name of a profile") else { return Model::usual("") };
        self.profile(name).unwrap_or_else(|| {
            let names: Vec<&str> = self.profiles.iter().map(|(name, _)| *name).collect();
            let hint = suggest::hint(name, names.iter().copied());
            let all = names.join(", ");
            reader.complain(value.span(), format!("there is no profile \"{name}\" to extend{hint} (profiles: {all})"));
            Model::usual("")
        })
    }

    fn section(&self, reader: &mut Reader<'_>, model: &mut Model, name: &str, key: &Key<'_>, value: &Value<'_>) {
        let features: Vec<&Feature> = self.features.iter().copied().filter(|it| section_of(it) == name).collect();
        if features.is_empty() {
            return reader.complain(key.span(), self.unknown_section(name));
        }
        let Some(table) = value.get_ref().as_table() else {
            let message = format!("{name} is a section: write [{name}] and its features below, not {}", found(value));
            return reader.complain(value.span(), message);
        };
        for (key, value) in entries(table) {
            match features.iter().find(|feature| key_of(feature) == key.get_ref()) {
                Some(feature) => {
                    if let Some(choice) = choice(reader, feature, value) {
                        model.set(feature, choice);
                    }
                }
                None => reader.complain(key.span(), self.unknown_feature(name, key.get_ref(), &features)),
            }
        }
    }

    fn unknown_section(&self, name: &str) -> String {
        let mut sections: Vec<&str> = Vec::new();
        for section in self.features.iter().map(|feature| section_of(feature)) {
            if !sections.contains(&section) {
                sections.push(section);
            }
        }
        let hint = suggest::hint(name, KEYS.iter().copied().chain(sections.iter().copied()));
        format!("unknown section or key {name}{hint} (keys: {}; sections: {})", KEYS.join(", "), sections.join(", "))
    }

    fn unknown_feature(&self, section: &str, name: &str, features: &[&Feature]) -> String {
        if let Some(elsewhere) = self.features.iter().find(|feature| key_of(feature) == name) {
            return format!("{name} is no feature of [{section}] but of [{}]", section_of(elsewhere));
        }
        let names: Vec<&str> = features.iter().map(|feature| key_of(feature)).collect();
        let hint = suggest::hint(name, names.iter().copied());
        format!("unknown feature {name} in [{section}]{hint} (features: {})", names.join(", "))
    }
}

/// The name of a file without folders and ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name)
}

fn section_of(feature: &Feature) -> &'static str {
    feature.name.split('.').next().unwrap_or(feature.name)
}

fn key_of(feature: &Feature) -> &'static str {
    feature.name.split('.').next_back().unwrap_or(feature.name)
}
