//! The miniature shadow: what a database holds while transactions run, known without asking it.
//!
//! A random workload is *valid* if its operations touch rows that exist, and touch them as often as was asked for,
//! although many sessions change the rows at the same time. DBStorm ("A Cost-effective Approach for Generating Valid
//! Workload to Test Transaction Processing", §4 and §5) does this with a structure much smaller than the database:
//!
//! ```text
//!                        ┌── attribute   n values, computed from the key; G and G⁻¹ tell how many rows have which
//!   number ── virtual ───┤
//!   0 … n     column Φ   ├── reference   a key of another table, certain to be there
//!                        │
//!                        └── key ──┬── static     always there: no memory
//!                                  └── dynamic    comes and goes: one word (lock, existence, stamp)
//! ```
//!
//! From the bottom up: [`bijection`] (permutations without memory), [`sampler`] (where randomness comes from),
//! [`distribution`] (G and G⁻¹), [`column`](mod@column) (numbers and values), [`attribute`], [`locks`] and [`keys`],
//! [`reference`](mod@reference) make up a table; [`schema`] describes tables, and [`Shadow`] is made from it. A session
//! has an [`instance`] for the transaction that it runs: keys are drawn, locked and, at the end, settled (Algorithm 3).
//! [`predicate`] fills in conditions that find something (Algorithm 2). A [`template`] is a transaction without
//! parameters, [`fill`] gives it some, and [`sql`] writes it down. [`population`] is what tables begin with.
//! [`measure`] tells how valid a workload was.
//!
//! One transaction, step by step:
//!
//! 1. [`Shadow::snapshot`] before the transaction begins; [`Instance::begin`](instance::Instance::begin) with it.
//! 2. For each operation a key ([`existing`](instance::Instance::existing), [`change`](instance::Instance::change)),
//!    and data from [`Attribute::draw`](attribute::Attribute::draw) and
//!    [`Instance::parent`](instance::Instance::parent).
//! 3. [`close_writes`](instance::Instance::close_writes), the database's COMMIT, then
//!    [`commit`](instance::Instance::commit); or [`abort`](instance::Instance::abort).
//!
//! Memory is O(attributes + dynamic keys), and each draw takes constant time and allocates nothing. Nothing here waits
//! or knows about threads: the words are atomic, and who is refused decides for himself what to do.
//!
//! Where this differs from the paper:
//!
//! - **Attributes are permuted** ([`attribute`]): taken literally, Algorithm 1 makes all of them monotone in the key.
//! - **Keys carry a stamp** ([`locks`]): the paper's shadow is up to date, but a transaction that reads from a snapshot
//!   is not. A key that changed after its snapshot is not drawn.
//! - **An insert or delete claims its key at once**, rather than at commit (unless [`Locking::Late`]): with the paper's
//!   read locks two transactions may choose to insert the same key, and one of them must fail.
//! - **Predicates are built around a row** ([`predicate`]) instead of being drawn until one looks satisfiable.

pub mod bijection;
pub mod sampler;
pub mod distribution;
mod calendar;
pub mod column;
pub mod attribute;
pub mod locks;
pub mod keys;
pub mod reference;
pub mod schema;
pub mod generated;
pub mod table;
pub mod instance;
pub mod predicate;
pub mod template;
pub mod fill;
pub mod sql;
pub mod population;
pub mod ycsb;
pub mod random;
pub mod gamma;
pub mod measure;

pub use distribution::Distribution;
pub use locks::Locking;
pub use sampler::{Access, Sampler};
pub use table::{Shadow, TableShadow};
