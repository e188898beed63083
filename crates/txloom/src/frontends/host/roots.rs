//! Which methods are transactions, and how much of what stands in the files has been found.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::schema::Schema;
use txloom_core::program::{Diagnostic, Expr, ExprKind, Language, Procedure, Span, Statement, StatementKind};

use super::super::FileReading;
use super::index::{MethodId, World};
use super::lower::{Lowered, Lowerer, Site, plain_name};
use super::owners;
use super::tidy;
use super::tree::{self, Method, Nature, Operator, Unit};
use super::types;
use super::visit;
use super::vocabulary::Vocabulary;

/// Reads the files of one language together; the answers are in the order of the units.
pub(crate) fn read(
    units: &[(usize, Unit)],
    vocabulary: &dyn Vocabulary,
    schema: &Schema,
    language: Language,
) -> Vec<(usize, FileReading)> {
    let world = World::new(units, vocabulary, schema, language);
    let mut readings: BTreeMap<usize, FileReading> = units
        .iter()
        .map(|(file, unit)| {
            (*file, FileReading { diagnostics: unit.unread.clone(), language, ..FileReading::default() })
        })
        .collect();
    let mut sites = sites_in(units, &world);
    let roots = match vocabulary.roots_own_transactions() {
        true => owners::roots(&world).into_iter().map(|(id, name)| (id, id.class, name)).collect(),
        false => roots(&world),
    };
    let mut names = BTreeSet::new();
    let followed = |(id, class, name): (MethodId, usize, String)| {
        let file = world.file(id);
        (file, Lowerer::new(&world, file).procedure(&unique(name, &mut names), id, class))
    };
    let mut lowered: Vec<(usize, Lowered)> = roots.into_iter().map(followed).collect();
    lowered.iter().for_each(|(_, one)| take_sites(one, &mut sites));
    lowered.extend(uncalled(&world, &mut sites, &mut names));
    let unsent = constants(&world, &mut sites, &mut names);
    unsent.iter().for_each(|(_, one)| take_sites(one, &mut sites));
    lowered.extend(unsent);
    let commits_itself = commits_itself(units, vocabulary);
    for (file, mut one) in lowered {
        one.procedure.autocommit |= commits_itself && !one.ends_transactions;
        tidy::tidy(&mut one.procedure, &one.made_up, &one.single);
        if !vocabulary.says_types() {
            types::infer(&mut one.procedure, schema, language);
        }
        let is_empty = one.sites.is_empty();
        for (file, diagnostic) in one.diagnostics {
            if let Some(reading) = readings.get_mut(&file) {
                reading.diagnostics.push(diagnostic);
            }
        }
        let Some(reading) = readings.get_mut(&file).filter(|_| !is_empty) else { continue };
        warn_unknown(&one.procedure, &mut reading.diagnostics);
        reading.procedures.push(one.procedure);
    }
    for ((file, _), site) in sites {
        let Some(reading) = readings.get_mut(&file) else { continue };
        if !site.is_sent {
            let message = "no method that is followed sends this statement; it is not analysed";
            reading.diagnostics.push(Diagnostic::error(site.span, message).with_hint(RECORD));
        } else if site.is_alone {
            let message = "no method that is followed sends this statement; it is taken for a transaction of its own";
            reading.diagnostics.push(Diagnostic::error(site.span, message).with_hint(RECORD));
        }
        reading.statements.0 += 1;
        reading.statements.1 += usize::from(site.is_understood);
    }
    readings
        .into_iter()
        .map(|(file, mut reading)| {
            reading.diagnostics.sort_by_key(|one| one.span.start);
            reading.diagnostics.dedup_by(|a, b| a.span.start == b.span.start && a.message == b.message);
            (file, reading)
        })
        .collect()
}

/// Notes which statements a procedure sends.
fn take_sites(one: &Lowered, sites: &mut BTreeMap<(usize, usize), Site>) {
    for (place, site) in &one.sites {
        let known = sites.entry(*place).or_insert(*site);
        known.is_understood |= site.is_understood;
        known.is_sent = true;
    }
}

/// Methods with statements that nobody has sent so far, as procedures: constructors, functions that are passed on, what
/// only code calls that is not there.
fn uncalled(
    world: &World<'_>,
    sites: &mut BTreeMap<(usize, usize), Site>,
    names: &mut BTreeSet<String>,
) -> Vec<(usize, Lowered)> {
    let mut lowered = Vec::new();
    for (class, file, definition) in world.classes() {
        for (method, one) in definition.methods.iter().enumerate() {
            let id = MethodId { class, method };
            if !mentions_unsent(world, id, sites) {
                continue;
            }
            let wish = match definition.nature {
                Nature::Function => format!("{}_function", definition.outer.as_deref().unwrap_or("")),
                _ if one.is_constructor => format!("new_{}", definition.name),
                _ => one.name.clone(),
            };
            let name = unique(plain_name(&wish, "p_"), names);
            let followed = Lowerer::new(world, file).procedure(&name, id, class);
            let sends_new = followed.sites.keys().any(|place| sites.get(place).is_none_or(|site| !site.is_sent));
            if sends_new {
                take_sites(&followed, sites);
                lowered.push((file, followed));
            } else {
                names.remove(&name);
            }
        }
    }
    lowered
}

/// Whether a method names a statement that nobody has sent: its text, or the constant that holds it.
fn mentions_unsent(world: &World<'_>, id: MethodId, sites: &BTreeMap<(usize, usize), Site>) -> bool {
    let has_unsent = |file: usize, span: Span| {
        let range = (file, span.start)..(file, span.end.max(span.start + 1));
        sites.range(range).any(|(_, site)| !site.is_sent)
    };
    let mut found = has_unsent(world.file(id), world.method(id).span);
    visit::expressions(&world.method(id).body, &mut |expr| {
        let tree::ExprKind::Name(name) = &expr.kind else { return };
        if let Some((owner, field)) = world.field(id.class, name).filter(|_| !found) {
            found = field.value.as_ref().is_some_and(|value| has_unsent(world.file_of(owner), value.span));
        }
    });
    found
}

/// Constants that nobody sends, as procedures of their own: who sends them may be in a file that is not there.
fn constants(
    world: &World<'_>,
    sites: &mut BTreeMap<(usize, usize), Site>,
    names: &mut BTreeSet<String>,
) -> Vec<(usize, Lowered)> {
    let mut lowered = Vec::new();
    for (number, file, class) in world.classes() {
        for (field, value) in class.fields.iter().filter_map(|field| Some((field, field.value.as_ref()?))) {
            let range = (file, value.span.start)..(file, value.span.end.max(value.span.start + 1));
            let mut unsent = sites.range_mut(range).filter(|(_, site)| !site.is_sent).peekable();
            if unsent.peek().is_none() {
                continue;
            }
            unsent.for_each(|(_, site)| site.is_alone = true);
            let name = unique(plain_name(&format!("{}_{}", class.name, field.name), "p_"), names);
            lowered.push((file, Lowerer::new(world, file).constant(&name, number, file, value)));
        }
    }
    lowered
}

/// What to do where a statement is found and its sender is not.
const RECORD: &str =
    "if a library sends it, record the log of the server (`txloom doctor` tells how), and analyze that";

/// Whether each statement of the program is a transaction: it says so, or it opens connections that commit by themselves,
/// and it never says anything else.
fn commits_itself(units: &[(usize, Unit)], vocabulary: &dyn Vocabulary) -> bool {
    let (mut switched_on, mut ends) = (false, false);
    let methods = units.iter().flat_map(|(_, unit)| &unit.classes).flat_map(|class| &class.methods);
    for method in methods {
        visit::expressions(&method.body, &mut |expr| {
            let tree::ExprKind::Call(call) = &expr.kind else { return };
            let argument = call.arguments.first().map(|argument| &argument.kind);
            match call.name.as_str() {
                "setAutoCommit" if matches!(argument, Some(tree::ExprKind::Bool(true))) => switched_on = true,
                "setAutoCommit" | "commit" | "rollback" => ends = true,
                name if vocabulary.opens_autocommit(name) => switched_on = true,
                _ => {}
            }
        });
    }
    switched_on && !ends
}

fn unique(name: String, names: &mut BTreeSet<String>) -> String {
    let mut wanted = name.clone();
    let mut number = 1;
    while !names.insert(wanted.clone()) {
        number += 1;
        wanted = format!("{name}_{number}");
    }
    wanted
}

/// The methods that are transactions: those that nobody of the program calls, and those that are whoever calls them.
fn roots(world: &World<'_>) -> Vec<(MethodId, usize, String)> {
    let mut called: BTreeSet<(&str, usize)> = BTreeSet::new();
    for (_, _, class) in world.classes() {
        for method in &class.methods {
            visit::expressions(&method.body, &mut |expr| {
                if let tree::ExprKind::Call(call) = &expr.kind
                    && (call.name != method.name || call.arguments.len() != method.parameters.len())
                {
                    called.insert((call.name.as_str(), call.arguments.len()));
                }
            });
        }
    }
    let mut roots = Vec::new();
    for (class, _, definition) in world.classes() {
        let stands_in_method = matches!(definition.nature, Nature::Local | Nature::Function);
        for (method, one) in definition.methods.iter().enumerate().filter(|_| !stands_in_method) {
            let is_main = world.vocabulary.is_main(&one.name);
            let is_called = called.contains(&(one.name.as_str(), one.parameters.len()));
            if one.is_constructor || (!is_main && (is_called || !one.is_public)) {
                continue;
            }
            let id = MethodId { class, method };
            if is_main && !definition.name.is_empty() {
                let name = |class: usize| plain_name(&world.class(class).name, "p_");
                roots.extend(heirs(world, id).into_iter().map(|class| (id, class, name(class))));
            } else {
                roots.push((id, class, plain_name(&one.name, "p_")));
            }
        }
    }
    roots
}

/// The classes whose objects have a method, and not one of their own in its place; its own, if there are none.
fn heirs(world: &World<'_>, id: MethodId) -> Vec<usize> {
    let Method { name, parameters, .. } = world.method(id);
    let has_it = |class: &usize| world.find(*class, name, parameters.len()) == Some(id);
    let heirs: Vec<usize> = world.concrete(id.class).into_iter().filter(has_it).collect();
    if heirs.is_empty() { vec![id.class] } else { heirs }
}

/// The SQL texts that stand in the files.
fn sites_in(units: &[(usize, Unit)], world: &World<'_>) -> BTreeMap<(usize, usize), Site> {
    let mut sites = BTreeMap::new();
    let mentioned = mentioned(units, world);
    for (number, file, class) in world.classes() {
        let mut covered: BTreeSet<usize> = BTreeSet::new();
        let mut note = |expr: &tree::Expr| note_site(file, expr, &mut covered, &mut sites);
        // A constant that nobody mentions is no statement of the program.
        for field in class.fields.iter().filter(|field| mentioned.contains(&(number, field.name.as_str()))) {
            field.value.iter().for_each(|value| visit::inside(value, &mut note));
        }
        let methods = class.methods.iter().map(|method| &method.body);
        for body in class.initializers.iter().chain(methods) {
            let idle = idle_texts(body);
            visit::expressions(body, &mut |expr| {
                if !idle.contains(&expr.span.start) {
                    note(expr);
                }
            });
        }
    }
    sites
}

/// Where texts begin that go to variables which nobody mentions.
fn idle_texts(body: &[tree::Stmt]) -> BTreeSet<usize> {
    let mut names = BTreeSet::new();
    visit::expressions(body, &mut |expr| insert_name(expr, &mut names));
    let mut idle = BTreeSet::new();
    visit::statements(body, &mut |statement| {
        if let tree::StmtKind::Declare { name, value: Some(value), .. } = &statement.kind
            && !names.contains(name.as_str())
        {
            let mut pieces = Vec::new();
            texts(value, &mut pieces);
            idle.extend(
                pieces.iter().map(|(span, _)| span.start).chain([value.span.start]).filter(|_| !pieces.is_empty()),
            );
        }
    });
    idle
}

/// Every field that is mentioned anywhere: by the class that has it, or, if nobody knows which that is, by all classes that
/// have one of that name. The constants of an enumeration can be reached without their names.
fn mentioned<'t>(units: &'t [(usize, Unit)], world: &World<'t>) -> BTreeSet<(usize, &'t str)> {
    let (mut exact, mut anywhere) = (BTreeSet::new(), BTreeSet::new());
    for (number, _, class) in world.classes() {
        let mut found = |expr: &'t tree::Expr| match &expr.kind {
            tree::ExprKind::Name(name) => match world.field(number, name) {
                Some((owner, _)) => drop(exact.insert((owner, name.as_str()))),
                None => drop(anywhere.insert(name.as_str())),
            },
            tree::ExprKind::Field(_, name) => drop(anywhere.insert(name.as_str())),
            _ => {}
        };
        class.fields.iter().filter_map(|field| field.value.as_ref()).for_each(|value| visit::inside(value, &mut found));
        class.initializers.iter().for_each(|body| visit::expressions(body, &mut found));
        class.methods.iter().for_each(|method| visit::expressions(&method.body, &mut found));
    }
    let classes = units.iter().flat_map(|(_, unit)| &unit.classes).enumerate();
    for (number, class) in classes {
        let is_known = |name: &str| anywhere.contains(name) || class.constants.iter().any(|constant| constant == name);
        let names = class.fields.iter().map(|field| field.name.as_str()).filter(|name| is_known(name));
        exact.extend(names.map(|name| (number, name)));
    }
    exact
}

fn insert_name<'t>(expr: &'t tree::Expr, names: &mut BTreeSet<&'t str>) {
    if let tree::ExprKind::Name(name) | tree::ExprKind::Field(_, name) = &expr.kind {
        names.insert(name);
    }
}

fn note_site(
    file: usize,
    expr: &tree::Expr,
    covered: &mut BTreeSet<usize>,
    sites: &mut BTreeMap<(usize, usize), Site>,
) {
    let mut pieces = Vec::new();
    texts(expr, &mut pieces);
    let Some((first, _)) = pieces.iter().find(|(_, text)| !text.trim().is_empty()) else { return };
    if covered.contains(&first.start) {
        return;
    }
    covered.extend(pieces.iter().map(|(span, _)| span.start));
    let whole: String = pieces.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(" ");
    if is_sql(&whole) {
        sites.entry((file, first.start)).or_insert(Site {
            span: *first,
            is_sent: false,
            is_understood: false,
            is_alone: false,
        });
    }
}

/// The constants of a text that is put together.
fn texts<'t>(expr: &'t tree::Expr, pieces: &mut Vec<(Span, &'t str)>) {
    match &expr.kind {
        tree::ExprKind::Text(text) => pieces.push((expr.span, text)),
        tree::ExprKind::Chain(Operator::Add, operands) => operands.iter().for_each(|one| texts(one, pieces)),
        tree::ExprKind::Pieces(all) => all.iter().for_each(|one| texts(one, pieces)),
        _ => {}
    }
}

/// Whether a text is a statement, and not a sentence that begins like one.
fn is_sql(text: &str) -> bool {
    let verb = text.split_whitespace().next().unwrap_or("").trim_start_matches('(');
    // A sentence begins with a capital.
    if verb.chars().any(char::is_uppercase) && verb.chars().any(char::is_lowercase) {
        return false;
    }
    let upper = text.to_uppercase();
    let words: Vec<&str> =
        upper.split(|c: char| c.is_whitespace() || c == '(').filter(|word| !word.is_empty()).collect();
    let has = |word: &str| words.contains(&word);
    match words.as_slice() {
        ["SELECT", ..] => has("FROM"),
        ["INSERT" | "REPLACE" | "MERGE", rest @ ..] => rest.first() == Some(&"INTO") || has("VALUES"),
        ["UPDATE", ..] => has("SET"),
        ["DELETE", rest @ ..] => rest.first() == Some(&"FROM"),
        ["WITH", ..] => has("AS") && has("SELECT"),
        _ => false,
    }
}

/// Says where a value that nobody knows is used.
fn warn_unknown(procedure: &Procedure, diagnostics: &mut Vec<Diagnostic>) {
    let mut found = Vec::new();
    unknown_in(&procedure.body, &mut found);
    for span in found {
        let message = "the value is not known here: any value is taken";
        diagnostics.push(Diagnostic::note(span, message));
    }
}

fn unknown_in(statements: &[Statement], found: &mut Vec<Span>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Declare { default: Some(value), .. } | StatementKind::Assign { value, .. } => {
                unknown_inside(value, found);
            }
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    unknown_inside(&branch.condition, found);
                    unknown_in(&branch.body, found);
                }
                unknown_in(otherwise, found);
            }
            StatementKind::While { body, .. }
            | StatementKind::Loop { body, .. }
            | StatementKind::ForEach { body, .. }
            | StatementKind::Block { body, .. } => unknown_in(body, found),
            _ => {}
        }
    }
}

fn unknown_inside(expr: &Expr, found: &mut Vec<Span>) {
    match &expr.kind {
        ExprKind::Any => found.push(expr.span),
        ExprKind::Binary { left, right, .. } => {
            unknown_inside(left, found);
            unknown_inside(right, found);
        }
        ExprKind::Not(operand) | ExprKind::Negate(operand) | ExprKind::IsNull { operand, .. } => {
            unknown_inside(operand, found);
        }
        _ => {}
    }
}
