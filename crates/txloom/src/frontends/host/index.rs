//! All classes of an application: which method, which field a name means.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::Language;
use txloom_core::program::schema::Schema;

use super::tree::{Class, Expr, ExprKind, Field, Method, Nature, Stmt, StmtKind, Unit};
use super::visit;
use super::vocabulary::Vocabulary;

/// A method: the positions of its class and of itself there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MethodId {
    pub(crate) class: usize,
    pub(crate) method: usize,
}

/// How many classes a class can have above it.
const ANCESTORS_MAX: usize = 16;

/// The classes of an application, with what is known beside them.
pub(crate) struct World<'p> {
    pub(crate) vocabulary: &'p dyn Vocabulary,
    pub(crate) schema: &'p Schema,
    pub(crate) language: Language,
    classes: Vec<(usize, &'p Class)>,
    by_name: BTreeMap<&'p str, usize>,
    /// The classes that have a method of a name.
    with_method: BTreeMap<&'p str, Vec<usize>>,
    /// What is assigned to fields, by class and name.
    assigned: BTreeMap<(usize, String), Vec<&'p Expr>>,
    /// The code that must be followed to know what a field holds, by class and name.
    makers: BTreeMap<(usize, String), Vec<Body<'p>>>,
}

/// Code that gives fields their values: an initializer of a class, or a method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body<'p> {
    pub(crate) class: usize,
    pub(crate) method: Option<MethodId>,
    pub(crate) statements: &'p [Stmt],
}

impl PartialEq for Body<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.statements, other.statements)
    }
}

impl<'p> World<'p> {
    /// The classes of all files; each unit with its file.
    pub(crate) fn new(
        units: &'p [(usize, Unit)],
        vocabulary: &'p dyn Vocabulary,
        schema: &'p Schema,
        language: Language,
    ) -> World<'p> {
        let classes: Vec<(usize, &Class)> =
            units.iter().flat_map(|(file, unit)| unit.classes.iter().map(|class| (*file, class))).collect();
        let mut by_name = BTreeMap::new();
        for (at, (_, class)) in classes.iter().enumerate() {
            by_name.entry(class.name.as_str()).or_insert(at);
        }
        let mut with_method: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, (_, class)) in classes.iter().enumerate() {
            class.methods.iter().for_each(|method| with_method.entry(&method.name).or_default().push(at));
        }
        let (assigned, makers) = Default::default();
        let mut world = World { vocabulary, schema, language, classes, by_name, with_method, assigned, makers };
        world.find_assignments();
        world
    }

    fn find_assignments(&mut self) {
        for body in self.bodies() {
            let locals = locals(body.statements, body.method.map(|id| self.method(id)));
            let mut found = Vec::new();
            visit::expressions(body.statements, &mut |expr| found.extend(changed(expr)));
            let is_first = body.method.is_none_or(|id| self.method(id).is_constructor);
            for change in found.into_iter().filter(|change| change.is_of_object || !locals.contains(change.name)) {
                let Some((owner, _)) = self.field(body.class, change.name) else { continue };
                let key = (owner, change.name.to_string());
                self.assigned.entry(key.clone()).or_default().extend(change.value);
                let is_whole = change.value.is_some_and(|value| change.is_whole && !mentions(value, &locals));
                let makers = self.makers.entry(key).or_default();
                if is_first && !is_whole && !makers.contains(&body) {
                    makers.push(body);
                }
            }
        }
    }

    /// All code: initializers first, since they run first.
    fn bodies(&self) -> Vec<Body<'p>> {
        let mut bodies = Vec::new();
        for (class, (_, definition)) in self.classes.iter().enumerate() {
            let body = |statements| Body { class, method: None, statements };
            bodies.extend(definition.initializers.iter().map(|one| body(one)));
            for (method, one) in definition.methods.iter().enumerate() {
                bodies.push(Body { method: Some(MethodId { class, method }), ..body(&one.body) });
            }
        }
        bodies
    }

    /// The code that must be followed to know what a field holds at first.
    pub(crate) fn makers(&self, owner: usize, name: &str) -> &[Body<'p>] {
        self.makers.get(&(owner, name.to_string())).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn classes(&self) -> impl Iterator<Item = (usize, usize, &'p Class)> + '_ {
        self.classes.iter().enumerate().map(|(at, (file, class))| (at, *file, *class))
    }

    pub(crate) fn class(&self, at: usize) -> &'p Class {
        self.classes[at].1
    }

    pub(crate) fn class_named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn method(&self, id: MethodId) -> &'p Method {
        &self.classes[id.class].1.methods[id.method]
    }

    /// The file of a method.
    pub(crate) fn file(&self, id: MethodId) -> usize {
        self.classes[id.class].0
    }

    /// The file of a class.
    pub(crate) fn file_of(&self, class: usize) -> usize {
        self.classes[class].0
    }

    /// A class and all whose fields and methods it has, too: its parent, its interfaces, and so on.
    pub(crate) fn ancestors(&self, class: usize) -> Vec<usize> {
        let mut line = vec![class];
        let mut at = 0;
        while let Some(next) = line.get(at).copied() {
            let Class { parent, interfaces, .. } = self.class(next);
            for name in parent.iter().chain(interfaces) {
                if let Some(above) = self.class_named(name).filter(|above| !line.contains(above))
                    && line.len() < ANCESTORS_MAX
                {
                    line.push(above);
                }
            }
            at += 1;
        }
        line
    }

    /// Where a name of a class is looked for: its ancestors, the class around it and that one's, and so on; then what
    /// stands outside of classes in its file.
    fn line(&self, class: usize) -> Vec<usize> {
        let mut line = self.ancestors(class);
        let mut inner = class;
        while let Some(outer) = self.class(inner).outer.as_deref().and_then(|outer| self.class_named(outer)) {
            if line.len() >= ANCESTORS_MAX || outer == inner {
                break;
            }
            let around = self.ancestors(outer).into_iter().filter(|at| !line.contains(at)).collect::<Vec<_>>();
            if around.is_empty() {
                break;
            }
            line.extend(around);
            inner = outer;
        }
        let file = self.classes[class].0;
        let globals = self.classes.iter().position(|(other, class)| *other == file && class.name.is_empty());
        line.extend(globals.filter(|at| !line.contains(at)));
        line
    }

    /// A field of a class or of one above it, and the class that has it.
    pub(crate) fn field(&self, class: usize, name: &str) -> Option<(usize, &'p Field)> {
        self.line(class).into_iter().find_map(|at| {
            let field = self.class(at).fields.iter().find(|field| field.name == name)?;
            Some((at, field))
        })
    }

    /// The class with a constant of that name, if there is only one: it was imported.
    pub(crate) fn imported(&self, name: &str) -> Option<usize> {
        let has = |class: &Class| class.fields.iter().any(|field| field.name == name && field.value.is_some());
        let mut classes = (0..self.classes.len()).filter(|at| has(self.class(*at)));
        let first = classes.next()?;
        classes.next().is_none().then_some(first)
    }

    /// What is assigned to a field, anywhere.
    pub(crate) fn assigned(&self, owner: usize, name: &str) -> &[&'p Expr] {
        self.assigned.get(&(owner, name.to_string())).map(Vec::as_slice).unwrap_or_default()
    }

    /// The method of a class, or of one above it, that takes so many arguments.
    pub(crate) fn find(&self, class: usize, name: &str, arguments: usize) -> Option<MethodId> {
        self.line(class).into_iter().find_map(|at| self.own(at, name, arguments))
    }

    fn own(&self, class: usize, name: &str, arguments: usize) -> Option<MethodId> {
        let methods = self.class(class).methods.iter().enumerate();
        let mut fitting =
            methods.filter(|(_, method)| method.name == name && takes(method, arguments) && !method.is_constructor);
        fitting.next().map(|(method, _)| MethodId { class, method })
    }

    /// The constructor that takes so many arguments; a class without a name has that of its parent.
    pub(crate) fn constructor(&self, class: usize, arguments: usize) -> Option<MethodId> {
        let Class { methods, nature, parent, .. } = self.class(class);
        let method = methods.iter().position(|method| method.is_constructor && takes(method, arguments));
        match method {
            Some(method) => Some(MethodId { class, method }),
            None if *nature == Nature::Local => {
                let parent = self.class_named(parent.as_deref()?).filter(|parent| *parent != class)?;
                self.constructor(parent, arguments)
            }
            None => None,
        }
    }

    /// Whether a class has a method of that name.
    pub(crate) fn has_method(&self, name: &str) -> bool {
        self.with_method.contains_key(name)
    }

    /// Whether all objects that a class will ever have are known.
    pub(crate) fn is_enumeration(&self, class: &str) -> bool {
        let known = self.class_named(class).map(|class| self.ancestors(class));
        known.is_some_and(|line| line.into_iter().any(|at| !self.class(at).constants.is_empty()))
    }

    /// The classes below a class, with itself, that have objects.
    pub(crate) fn concrete(&self, class: usize) -> Vec<usize> {
        let is_below = |at: &usize| self.class(*at).nature == Nature::Plain && self.ancestors(*at).contains(&class);
        (0..self.classes.len()).filter(is_below).collect()
    }

    /// The method that a class would have if it had none of its own.
    pub(crate) fn above(&self, class: usize, name: &str, arguments: usize) -> Option<MethodId> {
        self.ancestors(class).into_iter().skip(1).find_map(|at| self.own(at, name, arguments))
    }

    /// The method of that name, if all classes together have only one.
    pub(crate) fn only(&self, name: &str, arguments: usize) -> Option<MethodId> {
        if self.vocabulary.is_main(name) {
            return None;
        }
        let mut classes = self.with_method.get(name)?.clone();
        classes.dedup();
        let mut found = classes.into_iter().filter_map(|class| self.own(class, name, arguments));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

/// Methods that change a list, a map or a text.
const CHANGES: &[&str] = &["add", "addAll", "addLast", "append", "put", "push", "set"];

/// Something that may be the change of a field.
struct Change<'t> {
    name: &'t str,
    /// What is assigned.
    value: Option<&'t Expr>,
    /// Whether that is all that it holds afterwards.
    is_whole: bool,
    /// Whether it is said that a field is meant.
    is_of_object: bool,
}

fn changed(expr: &Expr) -> Option<Change<'_>> {
    let target = match &expr.kind {
        ExprKind::Assign { target, .. } | ExprKind::Step { target, .. } => &**target,
        ExprKind::Call(call) if CHANGES.contains(&call.name.as_str()) => call.receiver.as_deref()?,
        _ => return None,
    };
    let (value, is_whole) = match &expr.kind {
        ExprKind::Assign { value, .. } if matches!(target.kind, ExprKind::Index(..)) => (Some(&**value), false),
        ExprKind::Assign { value, operator, .. } => (Some(&**value), operator.is_none()),
        ExprKind::Step { target, .. } => (Some(&**target), false),
        _ => (None, false),
    };
    let value = value.filter(|_| !matches!(target.kind, ExprKind::Index(..)));
    let name = name_of(target)?;
    Some(Change { name, value, is_whole, is_of_object: matches!(target.kind, ExprKind::Field(..)) })
}

/// The variable or field that is meant; of a chain of calls, the first one's.
fn name_of(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) | ExprKind::Field(_, name) => Some(name),
        ExprKind::Index(of, _) => name_of(of),
        ExprKind::Call(call) => name_of(call.receiver.as_ref()?),
        _ => None,
    }
}

/// The names that code declares, with those of its parameters.
fn locals<'t>(body: &'t [Stmt], method: Option<&'t Method>) -> BTreeSet<&'t str> {
    let parameters = method.into_iter().flat_map(|method| &method.parameters);
    let mut names: BTreeSet<&str> = parameters.map(|parameter| parameter.name.as_str()).collect();
    visit::statements(body, &mut |statement| match &statement.kind {
        StmtKind::Declare { name, .. } => drop(names.insert(name)),
        StmtKind::ForEach { targets, .. } => names.extend(targets.iter().map(|(name, _)| name.as_str())),
        _ => {}
    });
    names
}

fn mentions(expr: &Expr, names: &BTreeSet<&str>) -> bool {
    let mut found = false;
    visit::inside(expr, &mut |part| {
        found |= matches!(&part.kind, ExprKind::Name(name) if names.contains(name.as_str()));
    });
    found
}

/// Whether a method can be called with so many arguments.
pub(crate) fn takes(method: &Method, arguments: usize) -> bool {
    let fixed = method.parameters.iter().filter(|parameter| !parameter.takes_rest).count();
    let needed = method.parameters.iter().filter(|one| !one.takes_rest && one.default.is_none()).count();
    let takes_rest = fixed < method.parameters.len();
    arguments >= needed && (takes_rest || arguments <= fixed)
}
