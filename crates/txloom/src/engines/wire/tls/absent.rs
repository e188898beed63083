//! In place of encryption, in a build without the feature `tls`.

use std::io::{self, Read, Write};

use super::{TlsError, TlsOptions};

/// An encrypted connection: this build has none.
#[derive(Debug)]
pub(in crate::engines) enum TlsSession {}

impl TlsSession {
    pub(in crate::engines) fn begin<S: Read + Write>(_: &mut S, _: &TlsOptions) -> Result<TlsSession, TlsError> {
        Err(TlsError::Failed("this build of txloom has no TLS (feature `tls`)".to_string()))
    }

    pub(in crate::engines) fn end_point(&self) -> Option<Vec<u8>> {
        match *self {}
    }

    pub(in crate::engines) fn has_plaintext(&mut self) -> io::Result<bool> {
        match *self {}
    }

    pub(in crate::engines) fn take_in<S: Read + Write>(&mut self, _: &mut S) -> io::Result<usize> {
        match *self {}
    }

    pub(in crate::engines) fn read<S: Read + Write>(&mut self, _: &mut S, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(in crate::engines) fn write<S: Read + Write>(&mut self, _: &mut S, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(in crate::engines) fn finish<S: Read + Write>(&mut self, _: &mut S) {
        match *self {}
    }
}
