//! Valid workloads: operations that touch rows which exist, while rows come and go.
//!
//! A workload of this kind is a schema and transaction templates; what runs is decided while it runs, with the help of a
//! [shadow](txloom_core::shadow) of the database:
//!
//! ```text
//!   templates ──→ Session ──fill──→ Shadow (shared by all sessions)
//!                    │ ↑                │
//!                    ↓ └── answers      └─→ which keys exist, since when, and who uses them
//!                 database
//! ```
//!
//! What is written down for the checker: every write gives its row a version of its own; an item-read reports the
//! version that it saw; a predicate-read enters as reads of the rows that it returned. A row that always exists and is
//! missing from an answer that must have it is reported as well. Rows that come and go are not missed: whether they were
//! there is what the shadow *assumes*.
//!
//! * [`Plan`]: everything that sessions share
//! * `session`: one session; `audit`: what is there when nobody is at work; `missing`: rows that a condition must find
//!
//! # Limits
//!
//! The history has no reads of rows that are not there, so phantoms are seen only where they show as rows.

mod session;
mod audit;
mod missing;

use std::sync::{Arc, Mutex, PoisonError};

use txloom_core::bulk::Bulk;
use txloom_core::engine::EngineInfo;
use txloom_core::generate::language::Language;
use txloom_core::generate::random::Random;
use txloom_core::generate::schema::make;
use txloom_core::generate::{Demands, profile};
use txloom_core::shadow::fill::Samplers;
use txloom_core::shadow::instance::Conversion;
use txloom_core::shadow::keys::KeyPlan;
use txloom_core::shadow::measure::OperationKind;
use txloom_core::shadow::population::Population;
use txloom_core::shadow::schema::{Schema, SchemaError};
use txloom_core::shadow::sql::Sql;
use txloom_core::shadow::template::{Code, Template};
use txloom_core::shadow::{Distribution, Locking, Shadow, generated, random, ycsb};

use super::super::log::{Access, Item};
use super::super::validity::{Figures, Stability, Validity};
use super::{Shape, Transactions, Workload};
use audit::Audit;
use session::Session;

/// Names of the profiles.
pub(super) const YCSB: &str = "ycsb-sql";
pub(super) const UPDATES: &str = "updates";
pub(super) const DBSTORM: &str = "dbstorm";

/// A valid workload.
pub struct Valid {
    name: &'static str,
    plan: Arc<Plan>,
    sessions: usize,
}

/// What the sessions of a valid workload share.
pub(super) struct Plan {
    shadow: Shadow,
    sql: Sql,
    codes: Vec<Code>,
    weights: Vec<u64>,
    samplers: Samplers,
    conversion: Conversion,
    /// What sessions that ended have counted.
    counted: Mutex<Validity>,
    /// What the last audit found.
    stability: Mutex<Vec<Stability>>,
}

impl Valid {
    /// The workload of the paper's experiments.
    pub fn ycsb(shape: &Shape, engine: &EngineInfo) -> Result<Valid, String> {
        Valid::on_ycsb(YCSB, ycsb::templates(), shape, engine)
    }

    /// Its updates alone.
    pub fn updates(shape: &Shape, engine: &EngineInfo) -> Result<Valid, String> {
        Valid::on_ycsb(UPDATES, ycsb::updates(), shape, engine)
    }

    fn on_ycsb(
        name: &'static str,
        templates: Vec<Template>,
        shape: &Shape,
        engine: &EngineInfo,
    ) -> Result<Valid, String> {
        let schema = ycsb::schema(shape.key_plan()).map_err(|error| error.to_string())?;
        Valid::new(name, schema, templates, Conversion::OnDraw, shape, engine)
    }

    /// Random tables and transactions, as the profile of this name describes them.
    pub fn dbstorm(shape: &Shape, engine: &EngineInfo) -> Result<Valid, String> {
        let model = profile::shipped(DBSTORM).ok_or("a profile of this name")?;
        let mut random = Random::new(shape.seed, &[]);
        let language = Language::of(std::slice::from_ref(engine));
        let tables = make::schema(&model, &language, Demands::default(), &mut random);
        let sizes = generated::Sizes {
            keys: shape.key_plan(),
            domain: 50,
            attributes: Distribution::Zipf(0.5),
            references: Distribution::Uniform,
            dynamic_parents: true,
        };
        let schema = generated::schema(&tables, &sizes).map_err(|error| error.to_string())?;
        let templates = random::templates(&model, &schema, &mut random);
        Valid::new(DBSTORM, schema, templates, Conversion::WhenNoneLeft, shape, engine)
    }

    fn new(
        name: &'static str,
        schema: Schema,
        templates: Vec<Template>,
        conversion: Conversion,
        shape: &Shape,
        engine: &EngineInfo,
    ) -> Result<Valid, String> {
        let templates = chosen(templates, shape);
        check_changes(&schema, &templates).map_err(|error| error.to_string())?;
        let sql = Sql::new(&schema, engine.dialect, &engine.version).map_err(|error| error.to_string())?;
        let shadow = Shadow::new(schema, Locking::Early, shape.seed).map_err(|error| error.to_string())?;
        let plan = Plan {
            sql,
            codes: templates.iter().map(Code::of).collect(),
            weights: templates.iter().map(|template| template.weight).collect(),
            samplers: Samplers::new(shape.access, shadow.tables().len(), shape.seed),
            conversion,
            counted: Mutex::new(Validity::new(&shadow)),
            stability: Mutex::new(Vec::new()),
            shadow,
        };
        Ok(Valid { name, plan: Arc::new(plan), sessions: shape.scale.sessions })
    }

    /// The transactions of a session, for whoever wants more than statements.
    pub(in crate::storm) fn generator(&self, session: usize) -> Session {
        Session::new(Arc::clone(&self.plan), session, self.sessions)
    }
}

/// Templates without what is not wanted; those that are left empty are left out.
fn chosen(templates: Vec<Template>, shape: &Shape) -> Vec<Template> {
    if shape.has_predicates {
        return templates;
    }
    let without = templates.iter().map(|template| template.without(OperationKind::PredicateRead));
    without.filter(|template| !template.steps.is_empty()).collect()
}

/// Where rows are to come and go, there must be keys that may.
fn check_changes(schema: &Schema, templates: &[Template]) -> Result<(), SchemaError> {
    let operations = templates.iter().flat_map(Template::operations);
    let changes = operations.filter(|at| matches!(at.kind(), OperationKind::Insert | OperationKind::Delete));
    changes.map(|operation| operation.table).try_for_each(|table| schema.check_changes(table))
}

impl Plan {
    /// Adds what a session has counted.
    fn hand_in(&self, counted: &Validity) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).add(counted);
    }
}

impl Workload for Valid {
    fn name(&self) -> &'static str {
        self.name
    }

    fn setup(&self) -> Vec<String> {
        self.plan.sql.creates(self.plan.shadow.load_order())
    }

    fn population(&self) -> Vec<Box<dyn Bulk + '_>> {
        let tables = Population::all(&self.plan.shadow, &self.plan.sql).into_iter();
        tables.map(|table| Box::new(table) as Box<dyn Bulk>).collect()
    }

    fn session(&self, _seed: u64, session: usize) -> Box<dyn Transactions> {
        Box::new(self.generator(session))
    }

    fn audit(&self) -> Box<dyn Transactions> {
        Box::new(Audit::new(Arc::clone(&self.plan)))
    }

    fn item_name(&self, item: Item) -> String {
        let table = &self.plan.shadow.schema().tables[item.table as usize];
        let values = self.plan.shadow.tables()[item.table as usize].key().values(item.key as u64);
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        format!("{} {}", table.name, values.join(" "))
    }

    fn at_rest(&self, audit: &[Access]) {
        for access in audit {
            let item = access.item();
            let keys = self.plan.shadow.tables()[item.table as usize].keys();
            if let txloom_core::shadow::keys::Slot::Dynamic(at) = keys.slot(item.key as u64) {
                self.plan.shadow.resolve(item.table as usize, at, !matches!(access, Access::Absent(_)));
            }
        }
    }

    fn figures(&self) -> Option<Figures> {
        let counted = self.plan.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let name = |table: usize| self.plan.shadow.schema().tables[table].name.clone();
        let goodness = counted.goodness(&self.plan.shadow).into_iter();
        Some(Figures {
            alphas: counted.alphas.clone(),
            goodness: goodness.map(|(table, kind, goodness)| (name(table), kind, goodness)).collect(),
            stability: self.plan.stability.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            predicates: counted.predicates.clone(),
        })
    }
}

impl Shape {
    /// How the keys of a table are divided and accessed.
    fn key_plan(&self) -> KeyPlan {
        let access = if self.skew > 0.0 { Distribution::Zipf(self.skew) } else { Distribution::Uniform };
        KeyPlan { count: self.scale.keys as u64, dynamic: self.dynamic, present: 0.5, access }
    }
}

#[cfg(test)]
mod tests;
