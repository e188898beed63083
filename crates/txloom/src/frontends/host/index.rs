//! All classes of an application: which method, which field a name means.

use std::collections::BTreeMap;

use txloom_core::program::Language;
use txloom_core::program::schema::Schema;

use super::tree::{Class, Expr, ExprKind, Field, Method, Unit};
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
        let assigned = BTreeMap::new();
        let mut world = World { vocabulary, schema, language, classes, by_name, with_method, assigned };
        world.find_assignments();
        world
    }

    fn find_assignments(&mut self) {
        let mut found: Vec<((usize, String), &'p Expr)> = Vec::new();
        for (at, (_, class)) in self.classes.iter().enumerate() {
            for method in &class.methods {
                visit::expressions(&method.body, &mut |expr| {
                    let ExprKind::Assign { target, value, .. } = &expr.kind else { return };
                    let name = match &target.kind {
                        ExprKind::Name(name) => name,
                        ExprKind::Field(_, name) => name,
                        _ => return,
                    };
                    found.push(((at, name.clone()), value));
                });
            }
        }
        for ((class, name), value) in found {
            if let Some((owner, _)) = self.field(class, &name) {
                self.assigned.entry((owner, name)).or_default().push(value);
            }
        }
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

    /// A class, its parent, and so on; then what stands outside of classes in its file.
    fn line(&self, class: usize) -> Vec<usize> {
        let mut line = vec![class];
        while let Some(parent) = line.last().and_then(|at| self.class(*at).parent.as_deref()) {
            match self.class_named(parent) {
                Some(next) if !line.contains(&next) && line.len() < ANCESTORS_MAX => line.push(next),
                _ => break,
            }
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

    /// The constructor that takes so many arguments.
    pub(crate) fn constructor(&self, class: usize, arguments: usize) -> Option<MethodId> {
        let methods = &self.class(class).methods;
        let method = methods.iter().position(|method| method.is_constructor && takes(method, arguments))?;
        Some(MethodId { class, method })
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

/// Whether a method can be called with so many arguments.
pub(crate) fn takes(method: &Method, arguments: usize) -> bool {
    let fixed = method.parameters.iter().filter(|parameter| !parameter.takes_rest).count();
    let needed = method.parameters.iter().filter(|one| !one.takes_rest && one.default.is_none()).count();
    let takes_rest = fixed < method.parameters.len();
    arguments >= needed && (takes_rest || arguments <= fixed)
}
