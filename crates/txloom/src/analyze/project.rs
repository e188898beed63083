//! The files of an application, read together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use txloom_core::case::Assert;
use txloom_core::level::LevelName;
use txloom_core::program::access::{ProcedureAccess, nodes};
use txloom_core::program::code::OperationKind;
use txloom_core::program::front::{self, Definitions, Reading, Trigger};
use txloom_core::program::schema::Schema;
use txloom_core::program::{Diagnostic, Language, Procedure, Program, Severity, Span, Statement, StatementKind};
use txloom_core::sql::{self, TokenKind};
use txloom_core::suggest;

use super::{unknowns, unread};
use crate::frontends::{self, FileReading, SourceLanguage};

use crate::frontends::logs::LogReading;

/// A file of an application.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceFile {
    /// What people call it.
    pub name: String,
    /// What it says; of a log, an excerpt.
    pub text: String,
    /// What was read from it, if it is a log: too large to be kept as text.
    pub log: Option<Arc<LogReading>>,
}

impl SourceFile {
    /// A file that is kept as text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceFile {
        SourceFile { name: name.into(), text: text.into(), log: None }
    }

    /// A log, of which an excerpt is kept.
    pub fn of_log(name: impl Into<String>, log: LogReading) -> SourceFile {
        SourceFile { name: name.into(), text: log.excerpt.text.clone(), log: Some(Arc::new(log)) }
    }

    /// What it says, if it is read as a whole; `known` are tables that other files define.
    fn read(&self, known: &Schema) -> (Reading, Definitions) {
        match &self.log {
            None => (front::read(&self.text, known), Definitions::read(&self.text)),
            Some(log) => {
                let program = log.program.clone();
                let reading = front::resolve(program, known, log.language, log.diagnostics.clone());
                (reading, Definitions::default())
            }
        }
    }

    /// What it says by itself, if it is a file of SQL.
    pub fn definitions(&self) -> Option<Reading> {
        self.is_sql().then(|| front::read(&self.text, &Schema::default()))
    }

    /// Whether it is a file of SQL.
    pub fn is_sql(&self) -> bool {
        self.log.is_none() && SourceLanguage::of(self) == SourceLanguage::Sql
    }

    /// The lines around a byte of its text: where they begin and end, and the number of the first.
    pub fn block(&self, at: usize) -> (usize, usize, usize) {
        let block = self.log.as_ref().and_then(|log| log.excerpt.block(at));
        block.unwrap_or((0, self.text.len(), 1))
    }
}

/// A place in one of the files.
#[derive(Debug, Clone, Copy)]
pub struct At {
    /// The position of the file.
    pub file: usize,
    /// The place in it.
    pub span: Span,
}

/// An application: its procedures and tables, from all of its files.
#[derive(Debug, Clone, Default)]
pub struct Project {
    /// The files.
    pub files: Vec<SourceFile>,
    /// The procedures.
    pub program: Arc<Program>,
    /// The graph of each procedure.
    pub accesses: Vec<ProcedureAccess>,
    /// The file of each procedure.
    pub homes: Vec<usize>,
    /// The SQL that is spoken in files of other languages.
    pub spoken: Language,
    /// The language of the SQL, if a file of SQL or a log tells it.
    pub language: Language,
    /// The tables.
    pub schema: Schema,
    /// What creates the tables, in order.
    pub definitions: Vec<String>,
    /// Whether that is not what was written, but [made anew](super::tables).
    pub is_remade: bool,
    /// What fills them, in order.
    pub rows: Vec<String>,
    /// What must be true.
    pub asserts: Vec<(At, Assert)>,
    /// What could not be read or resolved, with the file that it is in.
    pub diagnostics: Vec<(usize, Diagnostic)>,
    /// The triggers, with the file of each.
    pub triggers: Vec<(usize, Trigger)>,
    /// How many SQL statements the procedures have, and how many of them are understood.
    pub statements: (usize, usize),
}

impl Project {
    /// Reads all files; each knows the tables of all others.
    pub fn read(files: Vec<SourceFile>) -> Project {
        let (schemas, languages): (Vec<Schema>, Vec<Language>) = files
            .iter()
            .map(|file| file.definitions().map(|reading| (reading.schema, reading.language)).unwrap_or_default())
            .unzip();
        let language = languages.into_iter().find(|language| *language != Language::Any).unwrap_or_default();
        let mut sources: BTreeMap<usize, FileReading> =
            frontends::read(&files, &together(schemas.iter()), language).into_iter().collect();
        let logged = files.iter().filter_map(|file| file.log.as_ref()).map(|log| log.language);
        let logged = logged.into_iter().find(|language| *language != Language::Any).unwrap_or_default();
        let told = if language == Language::Any { logged } else { language };
        let mut project = Project { files, language: told, ..Project::default() };
        let mut program = Program::default();
        for at in 0..project.files.len() {
            match sources.remove(&at) {
                Some(reading) => project.add_source(at, reading, &together(schemas.iter()), &mut program),
                None => {
                    let others = schemas.iter().enumerate().filter(|(other, _)| *other != at);
                    project.add(at, &together(others.map(|(_, schema)| schema)), &mut program);
                }
            }
        }
        project.program = Arc::new(program);
        project.check_asserts();
        unread::note(&mut project);
        project
    }

    fn add(&mut self, file: usize, known: &Schema, program: &mut Program) {
        let (reading, said) = self.files[file].read(known);
        self.schema.tables.extend(reading.schema.tables.clone());
        self.schema.views.extend(reading.schema.views.clone());
        self.definitions.extend(said.tables().cloned());
        self.rows.extend(said.rows().cloned());
        let asserts = said.places.into_iter().zip(said.asserts);
        self.asserts.extend(asserts.map(|(span, assert)| (At { file, span }, assert)));
        let (all, understood) = statements(&reading.accesses, &reading.diagnostics);
        self.statements = (self.statements.0 + all, self.statements.1 + understood);
        self.triggers.extend(reading.triggers.into_iter().map(|trigger| (file, trigger)));
        let diagnostics = reading.diagnostics.into_iter().chain(said.diagnostics);
        self.diagnostics.extend(diagnostics.map(|diagnostic| (file, diagnostic)));
        self.add_procedures(file, reading.program.procedures.into_iter().zip(reading.accesses), program);
    }

    /// Adds what a file of a host language says.
    fn add_source(&mut self, file: usize, reading: FileReading, known: &Schema, program: &mut Program) {
        self.statements = (self.statements.0 + reading.statements.0, self.statements.1 + reading.statements.1);
        self.spoken = reading.language;
        let mut diagnostics = reading.diagnostics;
        let mut procedures = Vec::new();
        for mut procedure in reading.procedures {
            unknowns::become_parameters(&mut procedure, known, reading.language);
            let (access, complaints) = nodes::of_procedure(&procedure, known, reading.language);
            diagnostics.extend(complaints);
            procedures.push((procedure, access));
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        diagnostics.dedup_by(|a, b| a.span.start == b.span.start && a.message == b.message);
        self.diagnostics.extend(diagnostics.into_iter().map(|diagnostic| (file, diagnostic)));
        self.add_procedures(file, procedures.into_iter(), program);
    }

    fn add_procedures(
        &mut self,
        file: usize,
        procedures: impl Iterator<Item = (Procedure, ProcedureAccess)>,
        program: &mut Program,
    ) {
        for (procedure, access) in procedures {
            if program.procedure(&procedure.name).is_some() {
                let message = format!("another file has a procedure {}, too; this one is left out", procedure.name);
                self.diagnostics.push((file, Diagnostic::error(procedure.span, message)));
                continue;
            }
            program.procedures.push(procedure);
            self.accesses.push(access);
            self.homes.push(file);
        }
    }

    /// An assertion about calls needs a procedure, and asks about its parameters: else it would never be asked.
    fn check_asserts(&mut self) {
        for (at, assert) in &self.asserts {
            let Some(name) = &assert.procedure else { continue };
            let message = match self.program.procedure(name) {
                Some(procedure) => unknown_parameter(assert, procedure),
                None => {
                    let names = self.program.procedures.iter().map(|procedure| procedure.name.as_str());
                    let meant = suggest::hint(name, names);
                    Some(format!("there is no procedure {name} for the assertion {} to be about{meant}", assert.name))
                }
            };
            self.diagnostics.extend(message.map(|message| (at.file, Diagnostic::error(at.span, message))));
        }
    }

    /// Complains about tables that nobody defines: of their rows nothing can be said, and silence would be taken for
    /// peace. Each is told of once.
    pub fn demand_tables(&mut self) {
        let mut told = BTreeSet::new();
        for (access, file) in self.accesses.iter().zip(&self.homes) {
            for one in access.nodes.iter().flat_map(|node| &node.access.tables) {
                let is_said =
                    || self.diagnostics.iter().any(|(at, said)| at == file && said.span.start == one.span.start);
                let is_known = self.schema.table(&one.table).is_some() || is_said();
                if !is_known && told.insert(one.table.clone()) {
                    let message = format!("the table {} is not known: nothing can be said of its rows", one.table);
                    let hint = "give its definition with --schema FILE, e.g. what `pg_dump --schema-only` or `mysqldump \
                                --no-data` writes";
                    self.diagnostics.push((*file, Diagnostic::error(one.span, message).with_hint(hint)));
                }
            }
        }
    }

    /// Lets a procedure set the level of its transaction before all that it does, or, if it is to be said inside, behind
    /// its BEGIN. How that is written in its language is not said.
    pub fn set_level(&mut self, at: usize, level: &LevelName, inside: bool) {
        let procedures = &mut Arc::make_mut(&mut self.program).procedures;
        let (Some(procedure), Some(access)) = (procedures.get_mut(at), self.accesses.get_mut(at)) else { return };
        let comes_before = |kind: &StatementKind| {
            matches!(kind, StatementKind::Declare { .. }) || (inside && *kind == StatementKind::Begin)
        };
        let place = procedure.body.iter().take_while(|one| comes_before(&one.kind)).count();
        let span = Span { end: procedure.span.start, ..procedure.span };
        procedure.body.insert(place, Statement { kind: StatementKind::Isolation(level.clone()), span });
        *access = nodes::of_procedure(procedure, &self.schema, self.spoken).0;
    }

    /// The same application with other rows to begin with.
    #[must_use]
    pub fn with_rows<'r>(&self, rows: impl Iterator<Item = &'r String>) -> Project {
        Project { rows: rows.cloned().collect(), ..self.clone() }
    }

    /// Whether a part of the sources could not be read or resolved.
    pub fn is_incomplete(&self) -> bool {
        self.diagnostics.iter().any(|(_, diagnostic)| diagnostic.severity == Severity::Error)
    }
}

/// All tables together.
pub fn together<'s>(schemas: impl Iterator<Item = &'s Schema>) -> Schema {
    let mut all = Schema::default();
    for schema in schemas {
        all.tables.extend(schema.tables.clone());
        all.views.extend(schema.views.clone());
    }
    all
}

/// How many SQL statements there are, and how many have no error in them.
fn statements(accesses: &[ProcedureAccess], diagnostics: &[Diagnostic]) -> (usize, usize) {
    let nodes = accesses.iter().flat_map(|access| &access.nodes);
    let is_sql = |kind: &OperationKind| matches!(kind, OperationKind::Send(_) | OperationKind::Open(..));
    let sent: BTreeSet<(usize, usize)> = nodes
        .filter(|node| is_sql(&node.operation.kind))
        .map(|node| (node.operation.span.start, node.operation.span.end))
        .collect();
    let errors = || diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let is_inside = |(start, end): &(usize, usize), span: &Span| (*start..*end).contains(&span.start);
    let understood = sent.iter().filter(|range| !errors().any(|error| is_inside(range, &error.span))).count();
    // What could not even be read is a statement, too.
    let unread = errors().filter(|error| !sent.iter().any(|range| is_inside(range, &error.span))).count();
    (sent.len() + unread, understood)
}

impl Project {
    /// The same application with every statement a transaction of its own. What begins and ends transactions does nothing
    /// any more, but stays where it is: positions in procedures are the same.
    #[must_use]
    pub fn chopped(&self) -> Project {
        let mut program = (*self.program).clone();
        for procedure in &mut program.procedures {
            procedure.autocommit = true;
            chop(&mut procedure.body);
        }
        Project { program: Arc::new(program), ..self.clone() }
    }
}

/// A COMMIT where nothing is open sends nothing.
fn chop(statements: &mut [Statement]) {
    for statement in statements {
        if statement.kind == StatementKind::Begin {
            statement.kind = StatementKind::Commit;
        }
        statement.bodies_mut().into_iter().for_each(|body| chop(body));
    }
}

/// A complaint about a `:name` of an assertion that is no parameter.
fn unknown_parameter(assert: &Assert, procedure: &Procedure) -> Option<String> {
    let names = || procedure.parameters.iter().map(|parameter| parameter.name.as_str());
    let tokens = sql::tokens(&assert.sql);
    let mut asked = tokens.iter().filter(|token| token.kind == TokenKind::Variable).map(|token| &token.text[1..]);
    let wrong = asked.find(|name| !names().any(|parameter| parameter.eq_ignore_ascii_case(name)))?;
    let meant = suggest::hint(wrong, names());
    Some(format!("the assertion {} asks for {wrong}, which is no parameter of {}{meant}", assert.name, procedure.name))
}
