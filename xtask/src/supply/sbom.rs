//! A bill of materials in the form of CycloneDX: what a release is made of, for those who must know.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{LinkedPackage, packages};

/// Writes the bill of materials to a file, or to the standard output.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<bool> {
    let text = format!("{:#}\n", document(&packages()?)?);
    match arguments {
        [] => print!("{text}"),
        [file] => std::fs::write(Path::new(file), text).with_context(|| format!("cannot write {file}"))?,
        _ => bail!("usage: xtask sbom [FILE]"),
    }
    Ok(true)
}

/// The document; the first package is what all others are parts of.
pub(crate) fn document(packages: &[LinkedPackage]) -> anyhow::Result<Value> {
    let (first, parts) = packages.split_first().context("there is no package")?;
    let dependencies: Vec<Value> = packages.iter().map(|package| dependency(package, packages)).collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(first, "application") },
        "components": parts.iter().map(|package| component(package, "library")).collect::<Vec<_>>(),
        "dependencies": dependencies,
    }))
}

/// The name of a package among all packages of the world.
fn reference(package: &LinkedPackage) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn component(package: &LinkedPackage, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
        "purl": reference(package),
        "licenses": [{ "expression": package.license }],
    });
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

fn dependency(package: &LinkedPackage, packages: &[LinkedPackage]) -> Value {
    let mut needs: Vec<String> =
        packages.iter().filter(|other| package.needs.contains(&other.id)).map(reference).collect();
    needs.sort();
    json!({ "ref": reference(package), "dependsOn": needs })
}
