//! What `psql` and `mysql` read from files when a URL leaves it out: passwords, services, client sections.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::url::Environment;

/// Files of defaults are short; what is longer is none.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A file below the user's home directory.
pub(in crate::engines) fn in_home(path: &str, environment: Environment<'_>) -> Option<PathBuf> {
    environment("HOME").filter(|home| !home.is_empty()).map(|home| Path::new(&home).join(path))
}

/// The text of a file of defaults; `None` if there is none, or if it is no regular, short file.
pub(in crate::engines) fn read(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= FILE_BYTES_MAX).then(|| fs::read_to_string(path).ok())?
}

/// Returns true if others than the owner can read the file: then it is not used for passwords, as with `psql`.
fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |about| about.mode() & 0o077 != 0)
}

/// The password that a file of lines `host:port:database:user:password` has for a login.
pub(in crate::engines) fn password_in(path: &Path, wanted: [&str; 4]) -> Option<String> {
    if is_open_to_others(path) {
        return None;
    }
    read(path)?.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [host, port, database, user, password] = fields.as_slice() else { return None };
        let given = [host, port, database, user];
        let fits = given.iter().zip(wanted).all(|(given, wanted)| *given == "*" || *given == wanted);
        fits.then(|| password.clone())
    })
}

/// The first five fields of a line; a backslash takes the meaning from what follows it.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let next = match c {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => chars.next(),
            c => Some(c),
        };
        if let Some(field) = fields.last_mut() {
            field.extend(next);
        }
    }
    fields
}

/// The settings `name = value` of the sections of an INI file, in order; names with underscores are those with hyphens.
pub(in crate::engines) fn sections(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut is_wanted = false;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            is_wanted = wanted(name.trim());
        } else if is_wanted && !line.is_empty() && !line.starts_with(['#', ';', '!']) {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            found.push((name.trim().to_ascii_lowercase(), unquoted(value.trim()).to_string()));
        }
    }
    found
}

fn unquoted(value: &str) -> &str {
    let inside = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn file(name: &str, text: &str, mode: u32) -> PathBuf {
        let path = std::env::temp_dir().join(format!("txloom-defaults-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# comment\nh:5432:d:other:no\nh:*:*:u:se\\:cr\\\\et:tail\n*:*:*:*:last\n";
        let path = file("pgpass", text, 0o600);
        assert_eq!(password_in(&path, ["h", "5432", "d", "u"]).as_deref(), Some("se:cr\\et:tail"));
        assert_eq!(password_in(&path, ["x", "1", "d", "u"]).as_deref(), Some("last"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(password_in(&path, ["h", "5432", "d", "u"]), None, "others can read it");
        fs::remove_file(&path).unwrap();
        assert_eq!(password_in(&path, ["h", "5432", "d", "u"]), None);
        assert_eq!(read(Path::new("/dev/zero")), None);
    }

    #[test]
    fn sections_have_settings() {
        let text =
            "stray = 1\n[client]\nuser=a\npassword = \"p;#=w\"\n; no\n# no\nssl\n[server]\nport=1\n[mysql]\nhost = h";
        let found = sections(text, |name| ["client", "mysql"].contains(&name));
        let pairs: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("user", "a"), ("password", "p;#=w"), ("ssl", ""), ("host", "h")]);
    }
}
