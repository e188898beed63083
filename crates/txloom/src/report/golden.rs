//! Golden tests: what people read stands in files beside the tests.
//!
//! `TXLOOM_UPDATE_GOLDEN=1 cargo test` writes the files anew; look at the difference before you commit it.

use std::path::Path;

/// Compares a text with the golden file `src/report/text/golden/NAME`.
#[track_caller]
pub(crate) fn check(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/text/golden").join(name);
    if std::env::var_os("TXLOOM_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run with TXLOOM_UPDATE_GOLDEN=1 to write it", path.display()));
    assert!(
        expected == actual,
        "{name} differs; run with TXLOOM_UPDATE_GOLDEN=1 to accept.\n--- expected\n{expected}\n--- actual\n{actual}"
    );
}
