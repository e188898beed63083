//! What the originals need before they run: compiled classes and libraries, and a Python environment. Made once, kept
//! in `target/tmp`.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::root;

/// The drivers, where Debian's packages put them.
const DRIVERS: &[&str] = &["/usr/share/java/postgresql.jar", "/usr/share/java/mariadb-java-client.jar"];

/// What has to be installed for Java; `tools/install-servers` does that.
const JAVA_PACKAGES: &str = "openjdk-17-jdk-headless libpostgresql-jdbc-java libmariadb-java";

/// What has to be installed for C with embedded SQL.
const C_PACKAGES: &str = "gcc libecpg-dev";

/// The folder of the processes' own sources.
pub(crate) fn run_dir() -> PathBuf {
    root().join("crates/txloom/tests/it/originals/run")
}

/// The files of a folder of the corpus with that ending, sorted.
pub(crate) fn files_in(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    files.sort();
    files
}

/// Every Java file of the corpus's programs.
fn java_sources() -> Vec<PathBuf> {
    let programs = fs::read_dir(root().join("corpus/programs")).expect("the corpus is there");
    let mut folders: Vec<PathBuf> = programs.flatten().map(|entry| entry.path().join("java")).collect();
    folders.sort();
    folders.iter().flat_map(|folder| files_in(folder, "java")).collect()
}

/// The class path: originals, the process that runs them, drivers.
pub(crate) fn class_path() -> &'static str {
    static MADE: OnceLock<String> = OnceLock::new();
    MADE.get_or_init(|| {
        for driver in DRIVERS {
            assert!(Path::new(driver).exists(), "{driver} is missing; install {JAVA_PACKAGES}");
        }
        let classes = made_once("java", &[java_sources(), files_in(&run_dir(), "java")].concat(), |sources, dir| {
            finish(Command::new("javac").args(["-Xlint:all", "-Werror", "-d"]).arg(dir).args(sources), JAVA_PACKAGES);
        });
        [&[classes.to_string_lossy().as_ref()], DRIVERS].concat().join(":")
    })
}

/// A Python with the packages that the originals and the shop need.
pub(crate) fn python() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let requirements = root().join("examples/shop/requirements.txt");
        let environment = made_once("python", &[requirements], |requirements, dir| {
            finish(Command::new("python3").args(["-m", "venv"]).arg(dir), "python3-venv");
            let mut install = Command::new(dir.join("bin/python"));
            install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).args(requirements);
            finish(&mut install, "the network: it is needed once");
        });
        environment.join("bin/python")
    })
}

/// The folder of the compiled C originals, `agenda_1.so` …, and of the process that runs them, `runner`.
pub(crate) fn c_programs() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let programs = files_in(&root().join("corpus/programs/agenda/c"), "pgc");
        made_once("c", &[programs, files_in(&run_dir(), "pgc")].concat(), |sources, dir| {
            for source in sources {
                compile_c(source, dir);
            }
        })
    })
}

/// `agenda_1.pgc` → `agenda_1.c` → `agenda_1.so`; the runner becomes a program.
fn compile_c(source: &Path, dir: &Path) {
    let stem = dir.join(source.file_stem().expect("it has an ending"));
    let c_file = stem.with_extension("c");
    finish(Command::new("ecpg").arg("-o").arg(&c_file).arg(source), C_PACKAGES);
    let includes = Command::new("pg_config").arg("--includedir").output().expect("it comes with ecpg");
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Wextra", "-Werror", "-I", String::from_utf8_lossy(&includes.stdout).trim(), "-o"]);
    match stem.ends_with("runner") {
        true => compiler.arg(&stem),
        false => compiler.arg(stem.with_extension("so")).args(["-shared", "-fPIC"]),
    };
    finish(compiler.arg(&c_file).args(["-lecpg", "-ldl"]), C_PACKAGES);
}

/// A folder that is made from these files, unless it is there. It gets its name when it is complete, so that whoever
/// finds it can use it, and two who make it at once do not disturb each other.
fn made_once(name: &str, sources: &[PathBuf], make: impl FnOnce(&[PathBuf], &Path)) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    for source in sources {
        let text = fs::read(source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        (source.file_name(), text).hash(&mut hasher);
    }
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let dir = base.join(format!("originals-{name}-{:016x}", hasher.finish()));
    if !dir.exists() {
        let new = base.join(format!("originals-{name}-{}.new", std::process::id()));
        fs::create_dir_all(&new).unwrap_or_else(|error| panic!("{}: {error}", new.display()));
        make(sources, &new);
        if fs::rename(&new, &dir).is_err() {
            assert!(dir.exists(), "{} can be made", dir.display());
            let _ = fs::remove_dir_all(&new);
        }
    }
    dir
}

/// Runs a command that must succeed.
fn finish(command: &mut Command, needs: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; it needs {needs}"));
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?} failed; it needs {needs}\n{said}");
}
