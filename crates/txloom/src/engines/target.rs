//! Targets as people write them: `sqlite`, `postgres:15`, `postgres@/opt/pg`, `model+lost-update`, `postgres://…`.
//!
//! ```text
//! target = NAME [ ":" VERSION | "@" DIR ] { "+" BUG }
//!        | CLUSTER [ ":" NODES ] [ "@" DIR ] { "+" BUG }
//!        | SCHEME "://" … { "+" BUG }
//! ```
//!
//! A directory or URL may contain a `+` of its own: there, only the name of a bug that exists counts as one.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use txloom_core::planted::{self, PlantedBug};
use txloom_core::suggest::hint;

use super::access::AccessOptions;
use super::registry::{FAMILIES, Family};
use crate::servers::{Programs, ServerOptions};

/// A target that was asked for. That it can be started is another matter.
#[derive(Debug, Clone)]
pub struct Target {
    name: String,
    /// Which database system.
    pub family: &'static Family,
    /// Which one of them.
    pub place: Place,
    /// How many nodes it has.
    pub nodes: u32,
    /// The bugs to be planted in it, in the order in which they were asked for.
    pub bugs: Vec<&'static PlantedBug>,
    /// What a private server is told beyond our own settings.
    pub server: ServerOptions,
    /// What is allowed on a running one.
    pub access: AccessOptions,
}

/// Which server is meant.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// Part of txloom: no server at all.
    BuiltIn,
    /// A private server, from these programs.
    Private(Programs),
    /// A running server, by its URL. The URL may hold a password; do not show it.
    Running(String),
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::BuiltIn => f.write_str("BuiltIn"),
            Place::Private(programs) => write!(f, "Private({programs:?})"),
            Place::Running(url) => write!(f, "Running({})", mask_password(url)),
        }
    }
}

/// Why a text is not a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{target}` is not a target: {problem}")]
pub struct TargetError {
    /// What was written, without a password.
    pub target: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

impl Target {
    /// Reads a target.
    pub fn parse(text: &str) -> Result<Target, TargetError> {
        let (body, bug_names) = split_bugs(text);
        let error = |problem| TargetError { target: mask_password(text), problem };
        let read = if body.contains("://") { parse_url(body) } else { parse_name(body) };
        let Named { family, place, nodes } = read.map_err(error)?;
        let bugs = bug_names.iter().map(|name| find_bug(family, name)).collect::<Result<_, _>>().map_err(error)?;
        let (server, access) = (ServerOptions::default(), AccessOptions::default());
        Ok(Target { name: mask_password(text), family, place, nodes, bugs, server, access })
    }

    /// What was written, without a password: this is what reports and messages show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its bugs of one kind.
    pub(super) fn bugs_in(&self, place: planted::Place) -> Vec<&'static PlantedBug> {
        self.bugs.iter().copied().filter(|bug| bug.place == place).collect()
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        Target::parse(text)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// A target without its bugs.
struct Named {
    family: &'static Family,
    place: Place,
    nodes: u32,
}

/// How many nodes a cluster has whose target does not say.
const NODES_USUALLY: u32 = 2;

/// The target without its bugs, and their names.
fn split_bugs(text: &str) -> (&str, Vec<&str>) {
    let may_hold_plus = text.contains("://") || text.contains('@');
    let mut body = text;
    let mut bugs = Vec::new();
    while let Some((before, name)) = body.rsplit_once('+') {
        if may_hold_plus && !planted::ALL.iter().any(|bug| bug.name == name) {
            break;
        }
        bugs.insert(0, name);
        body = before;
    }
    (body, bugs)
}

fn find_bug(family: &Family, name: &str) -> Result<&'static PlantedBug, String> {
    if let Some(bug) = family.bugs().find(|bug| bug.name == name) {
        return Ok(bug);
    }
    let there_are = family.bugs().map(|bug| bug.name).collect::<Vec<_>>().join(", ");
    if planted::by_name(name).is_some() {
        let able: Vec<&str> = FAMILIES.iter().filter(|family| family.has_switches).map(|f| f.name).collect();
        let (there, here) = (able.join(", "), family.name);
        return Err(format!("`{name}` can be planted only in {there} (in {here} there are: {there_are})"));
    }
    let hint = hint(name, family.bugs().map(|bug| bug.name));
    Err(format!("there is no planted bug `{name}`{hint} (in {} there are: {there_are})", family.name))
}

fn parse_url(url: &str) -> Result<Named, String> {
    let scheme = url.split("://").next().unwrap_or_default();
    let family = FAMILIES.iter().find(|family| family.url_schemes.contains(&scheme));
    let family = family.ok_or_else(|| {
        let known = || FAMILIES.iter().flat_map(|family| family.url_schemes).copied();
        let urls = known().map(|scheme| format!("{scheme}://")).collect::<Vec<_>>().join(", ");
        format!("no database is reached by {scheme}://{} (known are: {urls})", hint(scheme, known()))
    })?;
    Ok(Named { family, place: Place::Running(url.to_string()), nodes: 1 })
}

fn parse_name(text: &str) -> Result<Named, String> {
    let end = text.find([':', '@']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let names = || FAMILIES.iter().map(|family| family.name);
    let family = FAMILIES.iter().find(|family| family.name == name).ok_or_else(|| {
        let forms = FAMILIES.iter().flat_map(|family| family.forms).map(|form| form.written);
        let forms = forms.collect::<Vec<_>>().join(", ");
        format!("there is no database `{name}`{} (targets are: {forms})", hint(name, names()))
    })?;
    let (nodes, rest) = parse_nodes(family, rest)?;
    if !rest.is_empty() && !family.has_programs() {
        return Err(format!("{name} is built in and has neither versions nor directories; write `{name}`"));
    }
    let place = match (family.has_programs(), rest.split_at_checked(1)) {
        (false, _) => Place::BuiltIn,
        (true, Some((":", version))) => Place::Private(Programs::Version(parse_version(name, version)?)),
        (true, Some(("@", ""))) => return Err(format!("name the directory that holds bin/, as in {name}@/opt/{name}")),
        (true, Some((_, dir))) => Place::Private(Programs::Dir(PathBuf::from(dir))),
        (true, None) => Place::Private(Programs::Newest),
    };
    Ok(Named { family, place, nodes })
}

/// How many nodes a target has, and what follows that.
fn parse_nodes<'a>(family: &Family, rest: &'a str) -> Result<(u32, &'a str), String> {
    let Some(possible) = &family.nodes else { return Ok((1, rest)) };
    let Some(number) = rest.strip_prefix(':') else { return Ok((NODES_USUALLY, rest)) };
    let (number, rest) = number.split_at(number.find('@').unwrap_or(number.len()));
    match number.parse().ok().filter(|nodes| possible.contains(nodes)) {
        Some(nodes) => Ok((nodes, rest)),
        None => {
            let (name, from, to) = (family.name, possible.start(), possible.end());
            Err(format!("`{number}` is not a number of nodes; write {name}:{from} to {name}:{to}"))
        }
    }
}

/// `15`, `10.11`: the numbers that the version of a server must begin with.
fn parse_version(name: &str, version: &str) -> Result<Vec<u32>, String> {
    version.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| {
        format!("`{version}` is not a version; write its numbers, as in {name}:15, or a directory, as in {name}@DIR")
    })
}

/// Parameters of URLs that are no secrets.
const SHOWN_PARAMETERS: &[&str] = &[
    "host",
    "port",
    "user",
    "dbname",
    "database",
    "socket",
    "unix_socket",
    "service",
    "passfile",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "channel_binding",
    "ssl-mode",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "application_name",
];

/// The target as it may be shown, and as a replay command can use it: without whatever could be a password. A text
/// without one stays as it is; one whose parts cannot be told apart, because something in it should have been encoded,
/// is not shown at all.
pub(super) fn mask_password(target: &str) -> String {
    let Some((scheme, rest)) = target.split_once("://") else { return target.to_string() };
    let is_plain = |text: &str, also: &str| text.chars().all(|c| c.is_alphanumeric() || also.contains(c));
    if !is_plain(scheme, "+-.") {
        return "***://***".to_string();
    }
    let (main, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = main.split_once('/').unwrap_or((main, ""));
    let (user_info, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = user_info.split(':').next().unwrap_or_default();
    let (host, port) =
        place.rsplit_once(':').filter(|(host, _)| !host.contains('[') || host.contains(']')).unwrap_or((place, ""));
    let is_clear = is_plain(user, "._-%+$\\")
        && is_plain(host, "._-%[]:")
        && (place.ends_with(']') || port.chars().all(|c| c.is_ascii_digit()))
        && is_plain(path, "._-%+$/")
        && !query.contains(['@', ';', '?']);
    if !is_clear {
        return format!("{scheme}://***");
    }
    let at = if user_info.is_empty() { String::new() } else { format!("{user}@") };
    let path = if main.contains('/') { format!("/{path}") } else { String::new() };
    let is_shown = |pair: &&str| SHOWN_PARAMETERS.contains(&pair.split('=').next().unwrap_or_default());
    let query: Vec<&str> = query.split('&').filter(is_shown).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}://{at}{place}{path}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, family: &str, place: Place, bugs: &[&str]) {
        let target = Target::parse(text).unwrap();
        let found: Vec<&str> = target.bugs.iter().map(|bug| bug.name).collect();
        assert_eq!((target.family.name, &target.place, found.as_slice()), (family, &place, bugs), "{text}");
    }

    #[track_caller]
    fn check_error(text: &str, expect: &[&str]) {
        let error = Target::parse(text).unwrap_err().to_string();
        for part in expect {
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(!error.contains('\n'));
    }

    #[test]
    fn every_form_is_read() {
        let private = Place::Private;
        check("sqlite", "sqlite", Place::BuiltIn, &[]);
        check("model", "model", Place::BuiltIn, &[]);
        check("model+lost-update", "model", Place::BuiltIn, &["lost-update"]);
        check("sqlite+extra-row", "sqlite", Place::BuiltIn, &["extra-row"]);
        check("model+lost-update+crash", "model", Place::BuiltIn, &["lost-update", "crash"]);
        check("postgres:15+crash", "postgres", private(Programs::Version(vec![15])), &["crash"]);
        check("postgres@/opt/c++/pg+crash", "postgres", private(Programs::Dir("/opt/c++/pg".into())), &["crash"]);
        check("mysql://u@h+crash", "mysql", Place::Running("mysql://u@h".into()), &["crash"]);
        check("postgres", "postgres", private(Programs::Newest), &[]);
        check("postgres:15", "postgres", private(Programs::Version(vec![15])), &[]);
        check("postgres@/opt/pg", "postgres", private(Programs::Dir("/opt/pg".into())), &[]);
        check("postgres@/opt/c++/pg", "postgres", private(Programs::Dir("/opt/c++/pg".into())), &[]);
        check("mariadb:10.11", "mariadb", private(Programs::Version(vec![10, 11])), &[]);
        check("mysql@/opt/mysql", "mysql", private(Programs::Dir("/opt/mysql".into())), &[]);
        check("mysql://u@h", "mysql", Place::Running("mysql://u@h".into()), &[]);
        for url in ["postgres://u@h/d", "postgresql://h:5433/d?port=1", "postgres://u:p+q@h"] {
            check(url, "postgres", Place::Running(url.to_string()), &[]);
        }
    }

    #[test]
    fn clusters_have_nodes() {
        let nodes = |text: &str| Target::parse(text).unwrap().nodes;
        assert_eq!((nodes("replicas"), nodes("replicas:1"), nodes("replicas:9+extra-row")), (2, 1, 9));
        assert_eq!(nodes("model"), 1);
        for text in ["replicas:0", "replicas:10", "replicas:", "replicas:two"] {
            check_error(text, &["is not a number of nodes; write replicas:1 to replicas:9"]);
        }
        check_error("replicas:2@/opt", &["built in", "write `replicas`"]);
        assert_eq!((nodes("mariadb-ring"), nodes("mariadb-ring:4"), nodes("mariadb-ring:3@/opt/m")), (2, 4, 3));
        check("mariadb-ring:2", "mariadb-ring", Place::Private(Programs::Newest), &[]);
        check("mariadb-ring:3@/opt/m", "mariadb-ring", Place::Private(Programs::Dir("/opt/m".into())), &[]);
        check_error("mariadb-ring:1", &["is not a number of nodes; write mariadb-ring:2 to mariadb-ring:4"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        check_error("postgre", &["`postgre` is not a target", "did you mean postgres?", "sqlite, model, model+BUG"]);
        check_error("oracle", &["there is no database `oracle` (targets are: sqlite"]);
        check_error("", &["there is no database ``"]);
        check_error("model+lost-updat", &["no planted bug `lost-updat`; did you mean lost-update?"]);
        check_error("model+", &["no planted bug ``"]);
        check_error("sqlite+crsh", &["no planted bug `crsh`; did you mean crash? (in sqlite there are: crash, extra"]);
        check_error(
            "sqlite+lost-update",
            &["`lost-update` can be planted only in model (in sqlite there are: crash, extra-row, "],
        );
        check_error("sqlite:3", &["built in", "write `sqlite`"]);
        check_error("postgres:new", &["`new` is not a version", "postgres:15"]);
        check_error("postgres@", &["postgres@/opt/postgres"]);
        check_error("postgrs://h", &["did you mean postgres?", "postgres://, postgresql://"]);
    }

    #[test]
    fn passwords_are_never_shown() {
        let target = Target::parse("postgres://me:se@c/ret@h/d?password=hush&port=1").unwrap();
        assert_eq!(target.name(), "postgres://***");
        assert!(!format!("{target:?}").contains("ret"));
        assert_eq!(Target::parse("postgres://me@h").unwrap().name(), "postgres://me@h");
        let error = Target::parse("postgrs://me:hush@h").unwrap_err();
        assert!(!error.to_string().contains("hush"), "{error}");
    }

    proptest::proptest! {
        /// Whatever a password holds, encoded or not, and wherever it stands in a URL.
        #[test]
        fn no_message_shows_a_password(password in "[ -~]{6,20}") {
            for text in [
                format!("postgres://user:{password}@host/db"),
                format!("mysql://user:{password}@host/db?ssl-mode=REQUIRED"),
                format!("mysql://host/db?user=u&password={password}"),
                format!("postgres://host/db?Password={password}&sslmode=require"),
                format!("postgres://host/db?sslpassword={password}"),
                format!("mysql://host/db;password={password}"),
                format!("postgres://user:{password}@host/db+extra-row"),
                format!("oracle://user:{password}@host/db"),
            ] {
                let shown = match Target::parse(&text) {
                    Ok(target) => format!("{target} {target:?}"),
                    Err(error) => error.to_string(),
                };
                proptest::prop_assert!(!shown.contains(&password), "{text}: {shown}");
            }
        }
    }

    #[test]
    fn every_family_documents_its_own_name_first() {
        for family in FAMILIES {
            assert_eq!(family.forms[0].written, family.name);
        }
    }

    #[test]
    fn passwords_are_masked_wherever_they_may_be() {
        for (target, expected) in [
            ("postgres:15", "postgres:15"),
            ("postgres://u@h/x", "postgres://u@h/x"),
            ("postgres://u:p@h:1/x", "postgres://u@h:1/x"),
            ("postgres://u:p@[::1]:1/x", "postgres://u@[::1]:1/x"),
            ("mysql://u:p@[::1]", "mysql://u@[::1]"),
            ("postgres://u:p/q@r@h/x?sslmode=disable", "postgres://***"),
            ("postgres://u:p?q@h/x", "postgres://***"),
            ("mysql://u@h/x;Password=p", "mysql://***"),
            ("postgres://u:p", "postgres://***"),
            ("postgres://h/x?user=u&password=p", "postgres://h/x?user=u"),
            ("postgres://h/x?Password=p&sslpassword=q&sslmode=require&r", "postgres://h/x?sslmode=require"),
        ] {
            assert_eq!(mask_password(target), expected);
        }
    }
}
