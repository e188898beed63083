use super::*;

/// The licences that deny.toml allows.
fn allowed() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    let list = text.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']')).map(|(list, _)| list);
    let quoted = list.expect("it has a list of licences").lines().map(|line| line.trim().trim_matches([',', '"']));
    quoted.filter(|line| !line.is_empty()).map(str::to_string).collect()
}

/// True if an SPDX expression can be met with these licences: one of the alternatives, and all of its parts.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.trim();
    let inner = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    if let Some(inner) = inner.filter(|inner| !inner.contains('(')) {
        return is_met(inner, allowed);
    }
    let parts = |separator: &str| {
        let mut parts = vec![String::new()];
        let mut depth = 0;
        for word in expression.split_whitespace() {
            if depth == 0 && word == separator {
                parts.push(String::new());
                continue;
            }
            depth += word.matches('(').count() as i32 - word.matches(')').count() as i32;
            let last = parts.last_mut().expect("there is a part");
            *last = format!("{last} {word}");
        }
        parts
    };
    let (choices, demands) = (parts("OR"), parts("AND"));
    match (choices.len(), demands.len()) {
        (1, 1) => allowed.iter().any(|one| one == expression),
        (1, _) => demands.iter().all(|one| is_met(one, allowed)),
        _ => choices.iter().any(|one| is_met(one, allowed)),
    }
}

#[test]
fn expressions_are_understood() {
    let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_string);
    for expression in ["MIT", "GPL-3.0 OR MIT", "MIT AND Zlib", "(MIT OR X) AND Zlib", "Apache-2.0 WITH LLVM-exception"]
    {
        assert!(is_met(expression, &allowed), "{expression}");
    }
    for expression in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR X) AND Y", "Apache-2.0"] {
        assert!(!is_met(expression, &allowed), "{expression}");
    }
}

#[test]
fn licences_are_allowed() {
    let allowed = allowed();
    let packages = packages().expect("cargo describes what it has built");
    let others: Vec<String> = packages
        .iter()
        .filter(|package| !is_met(&package.license, &allowed))
        .map(|package| format!("{} {}: `{}`", package.name, package.version, package.license))
        .collect();
    assert!(others.is_empty(), "not in the list of deny.toml:\n{}", others.join("\n"));
}

#[test]
fn packages_come_from_one_registry_and_have_checksums() {
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let text = std::fs::read_to_string(root().join(lock)).expect("the lock is there");
        let sources: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("source = ")).collect();
        assert!(sources.iter().all(|source| source.starts_with("\"registry+")), "{lock}: {sources:?}");
        assert!(sources.windows(2).all(|pair| pair[0] == pair[1]), "{lock}: more than one registry");
        let checksums = text.lines().filter(|line| line.starts_with("checksum = ")).count();
        assert_eq!(checksums, sources.len(), "{lock}: a package without a checksum");
    }
}

#[test]
fn the_bill_of_materials_is_complete() {
    let packages = packages().expect("cargo describes what it has built");
    let document = sbom::document(&packages).expect("there are packages");
    assert_eq!(document["metadata"]["component"]["name"], "txloom");
    let components: Vec<&Value> = array(&document["components"]).collect();
    assert_eq!(components.len() + 1, packages.len());
    for component in components {
        let is_ours = text(&component["name"]).starts_with("txloom");
        assert!(
            is_ours || component["hashes"][0]["content"].as_str().is_some_and(|hash| hash.len() == 64),
            "{component}"
        );
        assert!(!is_ours || component["hashes"].is_null());
    }
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    assert!(names.contains(&"txloom-core") && names.contains(&"sqlparser"), "{names:?}");
    assert!(!names.contains(&"proptest"), "what only tests need is no part of a release");
    let dependencies = array(&document["dependencies"]).filter(|one| one["ref"].is_string()).count();
    assert_eq!(dependencies, packages.len());
}
