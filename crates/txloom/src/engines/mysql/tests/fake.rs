//! Servers that exist only for a test: a login that MariaDB does not know, and answers that make no sense.

use std::net::{TcpListener, TcpStream};

use super::super::super::wire::security::Security;
use super::super::super::wire::stream::{Address, Stream};
use super::super::super::wire::url::Password;
use super::super::connection::{ConnectError, Connection, Login};
use super::super::packet::Packets;
use super::*;

const SCRAMBLE: &[u8; 20] = b"abcdefghijklmnopqrst";
pub(super) const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// What a server of MySQL 8 says first.
pub(super) fn greeting(method: &str) -> Vec<u8> {
    let mut greeting = b"\x0a8.0.99-fake\0".to_vec();
    greeting.extend_from_slice(&7u32.to_le_bytes());
    greeting.extend_from_slice(&SCRAMBLE[..8]);
    greeting.extend_from_slice(&[0, 0xff, 0xff, 255, 2, 0, 0xff, 0xff, 21]);
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(&SCRAMBLE[8..]);
    greeting.push(0);
    greeting.extend_from_slice(method.as_bytes());
    greeting.push(0);
    greeting
}

/// Logs in to a server that does what it is told; returns what came of it, and of the server.
fn meet<R: Send + 'static>(
    serve: impl FnOnce(Packets) -> R + Send + 'static,
) -> (Result<Connection, ConnectError>, JoinHandle<R>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    let server = std::thread::spawn(move || {
        let (stream, _): (TcpStream, _) = listener.accept().unwrap();
        serve(Packets::new(Stream::tcp(stream)))
    });
    let login = Login {
        address,
        user: "u".into(),
        password: Some(Password("geheim".into())),
        security: Security::default(),
        database: None,
        patience: Some(Duration::from_millis(200)),
        gives_files: false,
    };
    (Connection::open(&login), server)
}

#[test]
fn over_an_open_connection_the_password_is_not_sent() {
    let (connection, server) = meet(|mut packets| {
        packets.send(&greeting("caching_sha2_password")).unwrap();
        let response = packets.receive().unwrap();
        assert!(!response.windows(6).any(|window| window == b"geheim"));
        packets.send(&[1, 4]).unwrap();
        packets.receive().is_err()
    });
    assert!(matches!(connection, Err(ConnectError::ClearText)));
    assert!(server.join().unwrap(), "nothing more is said");
}

#[test]
fn a_server_may_choose_another_method() {
    let (connection, server) = meet(|mut packets| {
        packets.send(&greeting("something_new")).unwrap();
        packets.receive().unwrap();
        packets.send(&[b"\xfemysql_native_password\0", &SCRAMBLE[..], b"\0"].concat()).unwrap();
        let response = packets.receive().unwrap();
        packets.send(OK).unwrap();
        response.len()
    });
    assert!(connection.is_ok());
    assert_eq!(server.join().unwrap(), 20);
    let (connection, _) = meet(|mut packets| {
        packets.send(&greeting("something_new")).unwrap();
        packets.receive().unwrap();
        packets.send(b"\xfesomething_newer\0").unwrap();
        packets.receive().is_err()
    });
    assert!(matches!(connection, Err(ConnectError::Unsupported(why)) if why.contains("`something_newer`")));
}

#[test]
fn answers_that_make_no_sense_are_errors_and_silence_is_a_loss() {
    // An answer to the first statement, and whether it is an error of ours, or a loss of the connection.
    for (answer, is_error) in [(&[3, 1][..], true), (&[0xfc][..], true), (&[][..], true), (&[0, 0xff][..], true)] {
        let (connection, server) = meet(move |mut packets| {
            packets.send(&greeting("mysql_native_password")).unwrap();
            packets.receive().unwrap();
            packets.send(OK).unwrap();
            packets.receive_command().unwrap();
            packets.send(answer).unwrap();
            packets.send(&[5; 3]).unwrap();
            // Until the client hangs up.
            let _ = packets.receive();
        });
        let mut connection = connection.unwrap();
        assert_eq!(connection.execute("SELECT 1").is_err(), is_error, "{answer:?}");
        assert!(connection.is_lost());
        drop(connection);
        server.join().unwrap();
    }
    let (connection, _) = meet(|mut packets| {
        packets.send(&greeting("mysql_native_password")).unwrap();
        packets.receive().unwrap();
        packets.send(OK).unwrap();
        packets.receive_command().unwrap();
        let _ = packets.receive();
    });
    let mut connection = connection.unwrap();
    let outcome = connection.execute("SELECT 1").unwrap();
    assert_eq!(outcome.error.unwrap().message, "the server does not answer");
    assert!(connection.is_silent());
}

#[test]
fn a_server_that_refuses_says_why() {
    let (connection, _) = meet(|mut packets| packets.send(b"\xff\x10\x04Too many connections"));
    assert!(matches!(connection, Err(ConnectError::Refused(error)) if error.native == Some(1040)));
    let (connection, _) = meet(|mut packets| packets.send(b"SSH-2.0-OpenSSH"));
    assert!(matches!(connection, Err(ConnectError::Unsupported(_))));
}
