//! AGENDA's examples, whatever they are read from, have the same schedules: SQL, Java, Python, C, and the logs that
//! servers wrote while the originals ran.
//!
//! Procedures and variables have other names in each form, and a log knows only what happened: a branch that was not
//! taken is another procedure. So a transaction is told by what it reads and writes, as in the paper's Table 2.

use std::collections::BTreeSet;

use txloom::analyze::{Analysis, Project, SourceFile};
use txloom::corpus::CorpusProgram;
use txloom::frontends::logs;
use txloom_core::flow::program::Cut;
use txloom_core::flow::{Application, Element, Schedule, TransactionId};
use txloom_core::program::schema::Schema;
use txloom_core::program::{Language, Severity};

use crate::originals::agenda::{examples, module, source_in_c};
use crate::originals::java::class_name;
use crate::originals::read::read;
use crate::support::{limited, root};

/// How many schedules and commit points each example has.
const EXPECTED: &[(&str, usize, usize)] = &[
    ("agenda-1", 1, 0),
    ("agenda-1-fixed", 0, 0),
    ("agenda-2", 1, 0),
    ("agenda-2-fixed", 0, 0),
    ("agenda-3", 0, 1),
    ("agenda-3-fixed", 0, 0),
];

/// Who wrote the logs.
const LOGS: &[&str] = &["java-postgres.log", "python-postgres.log", "java-mariadb.log"];

/// What is wrong with an application: its schedules, and its commit points.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    schedules: BTreeSet<String>,
    points: BTreeSet<String>,
}

/// What a transaction reads and writes.
fn gist(application: &Application, id: TransactionId) -> String {
    let operations = &application.node(id).operations;
    let named = |sign: char, elements: BTreeSet<&Element>| {
        elements.iter().map(|element| format!("{sign}({element})")).collect::<Vec<_>>().join(" ")
    };
    let reads = named('R', operations.iter().flat_map(|one| one.reads()).collect());
    let writes = named('W', operations.iter().flat_map(|one| &one.writes).collect());
    format!("{reads} {writes}").trim().to_string()
}

fn told(project: &Project) -> Told {
    let analysis = Analysis::of(project, Cut::AsWritten);
    let application = &analysis.flowing.application;
    let schedule = |one: &Schedule| {
        let codes: BTreeSet<&str> = one.phenomena().iter().map(|it| it.code()).collect();
        let [first, between, last] = [one.first, one.between, one.last].map(|id| gist(application, id));
        format!("⟨{first}; {between}; {last}⟩ {codes:?}")
    };
    let schedules = analysis.schedules.iter().map(schedule).collect();
    let points = analysis.points.iter().map(|one| gist(application, one.after)).collect();
    Told { schedules, points }
}

/// An example in SQL.
fn in_sql(program: &CorpusProgram) -> Project {
    let path = format!("corpus/programs/{}.sql", program.name);
    let text = std::fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    Project::read(vec![SourceFile::new(path, text)])
}

/// An example as a log tells it.
fn in_log(program: &CorpusProgram, ending: &str) -> Project {
    let name = format!("corpus/programs/agenda/logs/{}.{ending}", program.name);
    let said = program.definitions();
    let tables = said.tables().cloned().collect::<Vec<_>>().join(";\n") + ";";
    let rows: Vec<String> = said.rows().cloned().collect();
    let (schema, _) = Schema::read(&tables, Language::Any);
    let reading = logs::read(&root().join(&name), &schema, &rows).unwrap_or_else(|error| panic!("{name}: {error}"));
    let survey = &reading.survey;
    assert_eq!((survey.unread, survey.understood), (0, survey.committed), "{name}: {survey:?}");
    assert_eq!(survey.covered, survey.transactions, "{name}: {survey:?}");
    Project::read(vec![SourceFile::new("tables.sql", tables), SourceFile::of_log(name, reading)])
}

/// Every form of an example but SQL, with what it is called.
fn forms(program: &CorpusProgram) -> Vec<(String, Project)> {
    let java = format!("corpus/programs/agenda/java/{}.java", class_name(program.name));
    let sources = [java, module(program), source_in_c(program)];
    let sources = sources.into_iter().map(|source| (source.clone(), read(program, &source)));
    let logs = LOGS.iter().map(|ending| (format!("{}.{ending}", program.name), in_log(program, ending)));
    sources.chain(logs).collect()
}

#[test]
fn examples_have_the_same_schedules_in_every_form() {
    limited(|| {
        let mut names = Vec::new();
        for program in examples() {
            let sql = told(&in_sql(program));
            let (_, schedules, points) =
                EXPECTED.iter().find(|(name, ..)| *name == program.name).expect("all are there");
            assert_eq!((sql.schedules.len(), sql.points.len()), (*schedules, *points), "{}: {sql:?}", program.name);
            for (name, project) in forms(program) {
                let errors = project.diagnostics.iter().filter(|(_, one)| one.severity == Severity::Error).count();
                assert_eq!((&told(&project), errors), (&sql, 0), "{name}\n{}", project.program);
            }
            names.push(program.name);
        }
        assert_eq!(names.len(), EXPECTED.len());
    });
}

/// PostgreSQL's files for programs say what its plain log says.
#[test]
fn other_formats_of_a_log_give_the_same_program() {
    limited(|| {
        let program = examples().next().expect("there is a first example");
        let plain = in_log(program, "java-postgres.log");
        for ending in ["java-postgres.csv", "java-postgres.json"] {
            let other = in_log(program, ending);
            assert_eq!((&other.program, told(&other)), (&plain.program, told(&plain)), "{ending}");
        }
    });
}
