//! Cases that attack the machine. They run on private servers started by root, whose own code must not do for them what
//! they cannot do themselves: nothing outside of the scratch directory may change.
//!
//! Who is not root has no rights to lend, so these tests say nothing then.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{TestDir, limited, txloom, wait_until};

/// What an attacker wants: files that only root may read or write.
struct Victim {
    folder: TestDir,
    before: BTreeMap<PathBuf, String>,
}

impl Victim {
    fn new(name: &str) -> Victim {
        let folder = TestDir::new(name);
        let of = |name: &str| folder.path().join(name);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).expect("it is ours");
        fs::create_dir_all(of("precious/tree/deep")).expect("it can be made");
        for file in ["precious/file", "precious/tree/a", "precious/tree/deep/b"] {
            folder.file(file, "precious\n");
        }
        // Where attackers say that they were here.
        fs::create_dir(of("notes")).expect("it can be made");
        fs::set_permissions(of("notes"), fs::Permissions::from_mode(0o1777)).expect("it is ours");
        let before = everything_in(&of("precious"));
        Victim { folder, before }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Writes a file that the server may read.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        path
    }

    /// Runs cases, one after the other, on one server; returns what is printed.
    fn attack(&self, target: &str, cases: &[&str]) -> String {
        let files = (1..).zip(cases).map(|(number, case)| self.folder.file(&format!("{number}.sql"), case));
        let files: Vec<String> = files.collect();
        let mut arguments = vec!["run", "--on", target, "--statement-limit", "30s"];
        arguments.extend(files.iter().map(String::as_str));
        let output = txloom(&arguments).env_remove("TMPDIR").output().expect("the binary starts");
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).join("\n")
    }

    /// The attack has taken place, as a user who owns nothing else, and nothing has changed.
    fn assert_unharmed(&self, said: &str) {
        assert_eq!(everything_in(&self.folder.path().join("precious")), self.before, "{said}");
        let note = fs::metadata(self.path("notes/attacked")).unwrap_or_else(|_| panic!("nobody attacked: {said}"));
        let named = fs::read_to_string("/etc/passwd").expect("there are users");
        let mut owners = named.lines().filter_map(|line| line.split(':').nth(2)?.parse::<u32>().ok());
        assert!(!owners.any(|owner| owner == note.uid()), "the server's user has a name, and maybe files");
    }
}

/// Every file of a directory with what can be known of it.
fn everything_in(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path).expect("it is there");
        let content = if metadata.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let state = (metadata.mode(), metadata.uid(), metadata.gid(), metadata.mtime_nsec(), content);
        found.insert(path.clone(), format!("{state:?}"));
        if metadata.is_dir() {
            found.extend(everything_in(&path));
        }
    }
    found
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A case in which the server runs a script.
fn starts(script: &str) -> String {
    format!("/*init*/ CREATE TABLE t (line text);\n/*a*/ COPY t FROM PROGRAM 'sh {script}';\n")
}

/// A case that makes the next one begin with pristine data.
const RECONFIGURES: &str = "/*a*/ ALTER SYSTEM SET work_mem = '1MB';\n";

/// A case without any harm.
const HARMLESS: &str = "/*init*/ CREATE TABLE t (a INT);\n/*a*/ INSERT INTO t VALUES (1);\n";

#[test]
fn links_in_a_data_directory_lead_nowhere() {
    if !is_root() {
        return;
    }
    limited(|| {
        let victim = Victim::new("attack-links");
        let (tree, file, notes) = (victim.path("precious/tree"), victim.path("precious/file"), victim.path("notes"));
        // The directory is empty in pristine data; the file is rewritten with it.
        let inside = format!(
            "touch {notes}/attacked\nrm -rf pg_twophase\nln -s {tree} pg_twophase\n\
             rm postgresql.auto.conf\nln -s {file} postgresql.auto.conf\n"
        );
        let inside = victim.file("inside.sh", &inside);
        let whole = victim.file("whole.sh", &format!("mv ../data ../away\nln -s {tree} ../data\n"));
        let said = victim.attack("postgres", &[&starts(&inside), HARMLESS, &starts(&whole), HARMLESS]);
        victim.assert_unharmed(&said);
    });
}

#[test]
fn links_beside_a_data_directory_lead_nowhere() {
    if !is_root() {
        return;
    }
    limited(|| {
        let victim = Victim::new("attack-beside");
        let (precious, notes) = (victim.path("precious"), victim.path("notes"));
        let script = format!(
            "touch {notes}/attacked\nfor dir in .. ../..; do\n\
             for name in log first.sql lock passwd processes pid; do\n\
             rm -f $dir/$name; ln -s {precious}/$name $dir/$name\ndone\ndone\ntrue\n"
        );
        let killed = starts(&victim.file("beside.sh", &script)) + "-- @kill\n/*b*/ SELECT 1;\n";
        let said = victim.attack("postgres", &[&killed, RECONFIGURES, HARMLESS]);
        victim.assert_unharmed(&said);
    });
}

/// A piece of System V shared memory.
struct SharedMemory(String);

impl SharedMemory {
    fn new() -> SharedMemory {
        let output = Command::new("ipcmk").args(["-M", "4096"]).output().expect("ipcmk is there");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        SharedMemory(said.rsplit(' ').next().unwrap_or_default().trim().to_string())
    }

    fn exists(&self) -> bool {
        let list = fs::read_to_string("/proc/sysvipc/shm").expect("there is a list");
        list.lines().any(|line| line.split_whitespace().nth(1) == Some(self.0.as_str()))
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        let _ = Command::new("ipcrm").args(["-m", &self.0]).output();
    }
}

#[test]
fn the_number_in_a_pid_file_frees_nobodys_memory() {
    if !is_root() {
        return;
    }
    limited(|| {
        let (victim, memory) = (Victim::new("attack-memory"), SharedMemory::new());
        let notes = victim.path("notes");
        let number = &memory.0;
        let script = format!("touch {notes}/attacked\nsed -i '7s/.*/ 5432001 {number}/' postmaster.pid\n");
        let killed = starts(&victim.file("memory.sh", &script)) + "-- @kill\n/*b*/ SELECT 1;\n";
        let said = victim.attack("postgres", &[&killed, RECONFIGURES, HARMLESS]);
        assert!(memory.exists(), "{said}");
        victim.assert_unharmed(&said);
    });
}

#[test]
fn what_does_not_end_or_cannot_be_entered_stops_nobody() {
    if !is_root() {
        return;
    }
    limited(|| {
        let victim = Victim::new("attack-hang");
        let notes = victim.path("notes");
        let script = format!(
            "touch {notes}/attacked\nrm -f PG_VERSION pg_hba.conf\nln -s /dev/zero PG_VERSION\nmkfifo pg_hba.conf\n\
             mkdir -p ../closed/inner\nchmod 0 ../closed/inner ../closed\n\
             (trap '' TERM INT HUP QUIT; cd /; exec sleep 1000) > /dev/null 2>&1 &\ntrue\n"
        );
        let attacks = starts(&victim.file("hang.sh", &script)) + "/*a*/ ALTER SYSTEM SET work_mem = '1MB';\n";
        let said = victim.attack("postgres", &[&attacks, HARMLESS]);
        victim.assert_unharmed(&said);
        let attacker = fs::metadata(victim.path("notes/attacked")).expect("it was here").uid();
        let attackers = || {
            let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
            let owners = processes.filter_map(|process| Some(process.metadata().ok()?.uid()));
            owners.filter(|owner| *owner == attacker).count()
        };
        // They have been killed; the system may not have forgotten them yet.
        wait_until("no program of the case is left", || attackers() == 0);
        assert_eq!(said.matches("a INSERT").count() + said.matches("INSERT INTO t").count(), 1, "{said}");
    });
}

#[test]
fn files_of_mariadb_lead_nowhere() {
    if !is_root() {
        return;
    }
    limited(|| {
        let victim = Victim::new("attack-mariadb");
        let (precious, notes) = (victim.path("precious"), victim.path("notes"));
        let case = format!(
            "/*init*/ CREATE TABLE t (line TEXT);\n\
             /*a*/ SELECT 'x' INTO OUTFILE '{notes}/attacked';\n\
             /*a*/ SELECT 'x' INTO OUTFILE '{precious}/planted';\n\
             /*a*/ SELECT 'x' INTO DUMPFILE '{precious}/tree/planted';\n\
             /*a*/ LOAD DATA INFILE '{precious}/file' INTO TABLE t;\n\
             /*a*/ CREATE TABLE there (a INT) ENGINE=MyISAM DATA DIRECTORY='{precious}/tree';\n\
             /*a*/ CREATE TABLE here (a INT) ENGINE=MyISAM DATA DIRECTORY='{notes}' INDEX DIRECTORY='{notes}';\n\
             /*a*/ SELECT 'x' INTO OUTFILE '../first.sql';\n\
             /*a*/ SET GLOBAL general_log_file = '../log', GLOBAL general_log = 1;\n\
             /*a*/ SET GLOBAL general_log_file = '../../log', GLOBAL general_log = 1;\n\
             /*a*/ SET GLOBAL general_log_file = '{precious}/file', GLOBAL general_log = 1;\n\
             -- @kill\n\
             /*b*/ SELECT COUNT(*) FROM t;\n"
        );
        let said = victim.attack("mariadb", &[&case, HARMLESS]);
        assert!(!said.contains("precious\n"), "{said}");
        victim.assert_unharmed(&said);
    });
}

/// Containers usually let root neither mount nor make namespaces.
#[test]
fn servers_start_where_nothing_can_be_mounted() {
    limited(|| {
        if !is_root() {
            return;
        }
        let folder = TestDir::new("attacks-container");
        let case = "-- @case 1\n/*init*/ CREATE TABLE t (a INT);\n/*a*/ INSERT INTO t VALUES (1);\n-- > affected 1\n";
        let file = folder.file("case.sql", case);
        for target in ["postgres", "mariadb"] {
            let mut command = Command::new("setpriv");
            command.args(["--bounding-set=-sys_admin", env!("CARGO_BIN_EXE_txloom"), "run", &file, "--on", target]);
            let done = command.output().expect("setpriv is there");
            assert_eq!(done.status.code(), Some(0), "{target}: {}", String::from_utf8_lossy(&done.stderr));
        }
    });
}
