//! What the engines that talk to servers share: sockets, encryption, limits, URLs, and rows to be loaded.

// Each protocol uses a part of it.
#![cfg_attr(not(all(feature = "postgres", feature = "mysql")), allow(dead_code))]

pub(in crate::engines) mod stream;
pub(in crate::engines) mod tls;
pub(in crate::engines) mod security;
pub(in crate::engines) mod limits;
pub(in crate::engines) mod defaults;
pub(in crate::engines) mod url;
pub(in crate::engines) mod owner;
pub(in crate::engines) mod rows;
