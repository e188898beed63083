//! Where the programs of MariaDB and MySQL are on this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use txloom_core::engine::Version;

use super::super::{Programs, ServerError};

/// Directories outside of the usual search path in which systems put servers.
const SERVER_DIRS: &[&str] = &["/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/bin", "/usr/local/mysql/bin"];

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// MariaDB.
    MariaDb,
    /// Oracle's MySQL, or a build of it.
    MySql,
}

impl Product {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Product::MariaDb => "MariaDB",
            Product::MySql => "MySQL",
        }
    }

    /// The name of its targets: `mariadb`, `mysql`.
    pub fn family(self) -> &'static str {
        match self {
            Product::MariaDb => "mariadb",
            Product::MySql => "mysql",
        }
    }

    /// The package that brings its server on Debian and its relatives.
    pub const fn package(self) -> &'static str {
        match self {
            Product::MariaDb => "mariadb-server",
            Product::MySql => "mysql-server",
        }
    }

    /// What the server may be called. MariaDB answers to both names.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Product::MariaDb => &["mariadbd", "mysqld"],
            Product::MySql => &["mysqld"],
        }
    }
}

/// A server that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Which of the two it is.
    pub product: Product,
    /// The version that the program says it has.
    pub version: Version,
    /// The server.
    pub server: PathBuf,
    /// The program that initialises a data directory; MySQL's server does that itself.
    pub(super) initialiser: Option<PathBuf>,
    /// What comes with a server that is not installed but unpacked, all in one directory.
    pub(super) bundle: Option<Bundle>,
}

/// A directory that holds a server with its libraries and messages, and a data directory that is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) dir: PathBuf,
    pub(super) data: PathBuf,
}

impl Bundle {
    fn in_dir(dir: &Path) -> Option<Bundle> {
        let is_ready = |data: &PathBuf| data.join("mysql/user.frm").is_file();
        let data = [dir.join("data"), dir.join("data/mysql")].into_iter().find(is_ready)?;
        dir.join("share").is_dir().then(|| Bundle { dir: dir.to_path_buf(), data })
    }
}

impl Installation {
    /// Finds the programs, or says which package brings them.
    pub fn find(product: Product, wanted: &Programs) -> Result<Installation, ServerError> {
        match wanted {
            Programs::Dir(dir) => {
                let places = [dir.join("bin"), dir.join("sbin"), dir.join("libexec"), dir.clone()];
                let found = places.iter().find_map(|place| Installation::in_dir(product, place));
                found.ok_or_else(|| {
                    let (dir, name, programs) = (dir.display(), product.name(), product.programs().join("` or `"));
                    let why = format!("neither it nor its bin/ holds a program `{programs}` of {name} that runs");
                    ServerError::Missing(format!("cannot find {name} in {dir}: {why}"))
                })
            }
            Programs::Newest => Installation::all(product).into_iter().next().ok_or_else(|| missing(product, "")),
            Programs::Version(numbers) => {
                let matches = |found: &Installation| found.version.numbers.starts_with(numbers);
                let text = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
                Installation::all(product).into_iter().find(matches).ok_or_else(|| missing(product, &text))
            }
        }
    }

    /// Everything that is installed where it is expected.
    pub fn all(product: Product) -> Vec<Installation> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs = std::env::split_paths(&path).chain(SERVER_DIRS.iter().map(PathBuf::from));
        let mut found: Vec<Installation> = Vec::new();
        let mut seen: Vec<PathBuf> = Vec::new();
        for dir in dirs {
            // `/bin` and `/usr/bin` are one directory on many systems.
            let Ok(dir) = dir.canonicalize() else { continue };
            if !seen.contains(&dir) {
                found.extend(Installation::in_dir(product, &dir));
                seen.push(dir);
            }
        }
        found
    }

    /// The server in that very directory, if it is of that product and runs.
    fn in_dir(product: Product, dir: &Path) -> Option<Installation> {
        let bundle = Bundle::in_dir(dir);
        let server = product.programs().iter().map(|name| dir.join(name)).find(|path| path.is_file())?;
        let server = server.canonicalize().unwrap_or(server);
        let text = version_text(&server, bundle.as_ref())?;
        let is_mariadb = text.contains("MariaDB");
        if is_mariadb != (product == Product::MariaDb) {
            return None;
        }
        let initialiser = initialiser(&server).filter(|_| is_mariadb);
        let complete = !is_mariadb || initialiser.is_some();
        let version = Version::parse(text.split_once(" Ver ").map_or(text.as_str(), |(_, version)| version));
        complete.then_some(Installation { product, version, server, initialiser, bundle })
    }
}

/// What the server says of its version: `mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu …`.
fn version_text(server: &Path, bundle: Option<&Bundle>) -> Option<String> {
    let mut command = Command::new(server);
    command.args(["--no-defaults", "--version"]);
    if let Some(bundle) = bundle {
        command.env("LD_LIBRARY_PATH", &bundle.dir);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    // The path comes first, and may hold anything.
    text.rfind(" Ver ").map(|at| text[at..].trim().to_string()).map(|version| format!("{version} "))
}

/// MariaDB's program that makes a data directory: beside the server, or where systems put it.
fn initialiser(server: &Path) -> Option<PathBuf> {
    let beside = server.parent()?;
    let dirs = [beside.to_path_buf(), beside.join("../bin"), beside.join("../scripts"), PathBuf::from("/usr/bin")];
    let names = ["mariadb-install-db", "mysql_install_db"];
    dirs.iter().flat_map(|dir| names.map(|name| dir.join(name))).find(|path| path.is_file())
}

fn missing(product: Product, version: &str) -> ServerError {
    let (name, family, package) = (product.name(), product.family(), product.package());
    let what = if version.is_empty() { name.to_string() } else { format!("{name} {version}") };
    ServerError::Missing(format!(
        "{what} is not installed on this machine: install the package `{package}` (apt install {package}), or name a \
         directory that holds bin/{} ({family}@DIR)",
        product.programs()[0]
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::ScratchDir;
    use super::*;

    #[test]
    fn the_installed_server_is_found_by_name_version_and_directory() {
        let installed = Installation::find(Product::MariaDb, &Programs::Newest).unwrap();
        assert!(installed.version.numbers[0] >= 10, "{installed:?}");
        let same = Programs::Version(installed.version.numbers[..2].to_vec());
        assert_eq!(Installation::find(Product::MariaDb, &same).unwrap(), installed);
        let dir = installed.server.parent().unwrap().to_path_buf();
        assert_eq!(Installation::find(Product::MariaDb, &Programs::Dir(dir)).unwrap(), installed);
    }

    #[test]
    fn what_is_missing_is_said_with_its_package() {
        let error = Installation::find(Product::MariaDb, &Programs::Version(vec![3, 1])).unwrap_err().to_string();
        assert!(error.contains("MariaDB 3.1 is not installed") && error.contains("mariadb-server"), "{error}");
        let scratch = ScratchDir::create().unwrap();
        let error = Installation::find(Product::MySql, &Programs::Dir(scratch.path().into())).unwrap_err().to_string();
        assert!(error.contains("cannot find MySQL in ") && error.contains("`mysqld`"), "{error}");
    }

    #[test]
    fn a_mariadb_under_the_name_of_mysqld_is_no_mysql() {
        let scratch = ScratchDir::create().unwrap();
        let dir = scratch.path().to_path_buf();
        let script = "#!/bin/sh\necho \"$0  Ver 10.11.14-MariaDB for Linux\"\n";
        std::fs::write(dir.join("mysqld"), script).unwrap();
        std::fs::set_permissions(dir.join("mysqld"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert!(Installation::find(Product::MySql, &Programs::Dir(dir)).is_err());
    }
}
