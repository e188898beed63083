//! What the engines that talk to servers share: sockets and URLs.

pub(in crate::engines) mod stream;
pub(in crate::engines) mod url;
