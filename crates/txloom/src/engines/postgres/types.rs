//! Type names: results carry numbers (OIDs), people and dialects want names.
//!
//! The types that come with PostgreSQL have had the same numbers for decades, so they are written down here. Types that
//! a case creates are looked up, on a connection of the engine's own: asking on the session's connection would put
//! a statement into the run that the case does not have. A type that nobody else can see yet, since its transaction is
//! still open, has no name; its number would be another one in the next run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::monitor::Monitor;

/// The types that come with PostgreSQL. An array type is called like its element type, with `_` before it.
const BUILT_IN: &[(u32, &str)] = &[
    (16, "bool"),
    (17, "bytea"),
    (18, "char"),
    (19, "name"),
    (20, "int8"),
    (21, "int2"),
    (22, "int2vector"),
    (23, "int4"),
    (24, "regproc"),
    (25, "text"),
    (26, "oid"),
    (27, "tid"),
    (28, "xid"),
    (29, "cid"),
    (30, "oidvector"),
    (114, "json"),
    (142, "xml"),
    (199, "_json"),
    (600, "point"),
    (601, "lseg"),
    (602, "path"),
    (603, "box"),
    (604, "polygon"),
    (628, "line"),
    (650, "cidr"),
    (700, "float4"),
    (701, "float8"),
    (705, "unknown"),
    (718, "circle"),
    (774, "macaddr8"),
    (790, "money"),
    (829, "macaddr"),
    (869, "inet"),
    (1000, "_bool"),
    (1001, "_bytea"),
    (1002, "_char"),
    (1003, "_name"),
    (1005, "_int2"),
    (1007, "_int4"),
    (1009, "_text"),
    (1014, "_bpchar"),
    (1015, "_varchar"),
    (1016, "_int8"),
    (1021, "_float4"),
    (1022, "_float8"),
    (1028, "_oid"),
    (1033, "aclitem"),
    (1034, "_aclitem"),
    (1042, "bpchar"),
    (1043, "varchar"),
    (1082, "date"),
    (1083, "time"),
    (1114, "timestamp"),
    (1115, "_timestamp"),
    (1182, "_date"),
    (1183, "_time"),
    (1184, "timestamptz"),
    (1185, "_timestamptz"),
    (1186, "interval"),
    (1187, "_interval"),
    (1231, "_numeric"),
    (1266, "timetz"),
    (1270, "_timetz"),
    (1560, "bit"),
    (1561, "_bit"),
    (1562, "varbit"),
    (1563, "_varbit"),
    (1700, "numeric"),
    (1790, "refcursor"),
    (2205, "regclass"),
    (2206, "regtype"),
    (2249, "record"),
    (2275, "cstring"),
    (2278, "void"),
    (2287, "_record"),
    (2950, "uuid"),
    (2951, "_uuid"),
    (3220, "pg_lsn"),
    (3614, "tsvector"),
    (3615, "tsquery"),
    (3802, "jsonb"),
    (3807, "_jsonb"),
    (3904, "int4range"),
    (3906, "numrange"),
    (3908, "tsrange"),
    (3910, "tstzrange"),
    (3912, "daterange"),
    (3926, "int8range"),
    (4072, "jsonpath"),
    (4451, "int4multirange"),
    (4532, "nummultirange"),
    (4533, "tsmultirange"),
    (4534, "tstzmultirange"),
    (4535, "datemultirange"),
    (4536, "int8multirange"),
    (5069, "xid8"),
];

/// The name of a type that comes with PostgreSQL.
pub(in crate::engines) fn built_in(oid: u32) -> Option<&'static str> {
    BUILT_IN.binary_search_by_key(&oid, |(oid, _)| *oid).ok().map(|at| BUILT_IN[at].1)
}

/// The names of the other types, looked up once per case.
pub(super) struct TypeNames {
    monitor: Arc<Monitor>,
    known: Mutex<BTreeMap<u32, String>>,
}

impl TypeNames {
    /// Names that are looked up through the monitor.
    pub(super) fn new(monitor: Arc<Monitor>) -> TypeNames {
        TypeNames { monitor, known: Mutex::default() }
    }

    /// The name; empty if nobody but the session that created the type can see it.
    pub(super) fn name(&self, oid: u32) -> String {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.get(&oid) {
            return name.clone();
        }
        let name = self.monitor.type_name(oid).unwrap_or_default();
        if !name.is_empty() {
            known.insert(oid, name.clone());
        }
        name
    }

    /// Forgets all names: the case that they belonged to is over.
    pub(super) fn forget(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(BUILT_IN.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(built_in(23), Some("int4"));
        assert_eq!(built_in(16384), None);
    }
}
