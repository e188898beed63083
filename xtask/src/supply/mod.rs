//! The supply chain: the packages that txloom is made of, where they come from, and under which licences.
//!
//! ```text
//!   cargo metadata ─┐
//!                   ├→ packages ──→ sbom: a bill of materials (CycloneDX), for releases
//!   Cargo.lock ─────┘          └──→ tests: sources and licences as deny.toml allows them
//! ```
//!
//! None of this needs a network: what cargo has built, it can describe.

pub(crate) mod sbom;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

/// A package that txloom is made of.
#[derive(Debug, Clone)]
pub(crate) struct LinkedPackage {
    /// The identifier that cargo uses.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// The licences, as an SPDX expression.
    pub(crate) license: String,
    /// The SHA-256 of what was downloaded; `None` for packages of this workspace.
    pub(crate) checksum: Option<String>,
    /// The identifiers of what it is linked with or built by.
    pub(crate) needs: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn output(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {}: {said}", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}

/// The platform that this is.
fn host() -> anyhow::Result<String> {
    let said = output("rustc", &["-vV"])?;
    let line = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("rustc does not name its host")?.to_string())
}

/// The packages that `txloom` is made of on this platform, itself first; what only tests need is left out.
pub(crate) fn packages() -> anyhow::Result<Vec<LinkedPackage>> {
    let host = host()?;
    let arguments = ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", &host];
    let metadata: Value = serde_json::from_str(&output(env!("CARGO"), &arguments)?)?;
    let checksums = checksums(&std::fs::read_to_string(root().join("Cargo.lock"))?);
    let all: BTreeMap<String, LinkedPackage> = array(&metadata["packages"])
        .map(|package| linked(package, &metadata["resolve"], &checksums))
        .map(|package| Ok((package.id.clone(), package)))
        .collect::<anyhow::Result<_>>()?;
    let Some(first) = all.values().find(|package| package.name == "txloom") else { bail!("there is no txloom") };
    let mut found: Vec<&LinkedPackage> = vec![first];
    let mut at = 0;
    while let Some(package) = found.get(at) {
        at += 1;
        for next in package.needs.iter().filter_map(|id| all.get(id)) {
            if !found.iter().any(|known| known.id == next.id) {
                found.push(next);
            }
        }
    }
    Ok(found.into_iter().cloned().collect())
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn linked(package: &Value, resolve: &Value, checksums: &BTreeMap<(String, String), String>) -> LinkedPackage {
    let (id, name, version) = (text(&package["id"]), text(&package["name"]), text(&package["version"]));
    let node = array(&resolve["nodes"]).find(|node| text(&node["id"]) == id);
    let is_linked = |one: &&Value| array(&one["dep_kinds"]).any(|kind| kind["kind"].as_str() != Some("dev"));
    let needs = node.map(|node| array(&node["deps"]).filter(is_linked).map(|one| text(&one["pkg"])).collect());
    LinkedPackage {
        license: text(&package["license"]).replace('/', " OR "),
        checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
        needs: needs.unwrap_or_default(),
        id,
        name,
        version,
    }
}

/// The checksums of `Cargo.lock`, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |part: &str, key: &str| {
        let line = part.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.map(|rest| rest.trim_end_matches('"').to_string())
    };
    let entry = |part: &str| Some(((value(part, "name")?, value(part, "version")?), value(part, "checksum")?));
    lock.split("[[package]]").filter_map(entry).collect()
}
