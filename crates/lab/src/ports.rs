//! Free ports on loopback.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// Below what Linux hands out for outgoing connections (32768 and up): there, a connection of another lab could take a
/// port between our choosing it and a server binding it.
const FIRST: u16 = 12_000;
const COUNT: u16 = 20_000;
const ATTEMPTS: u32 = 200;

/// `N` different ports that were free a moment ago. Whoever binds them must still be ready to lose the race.
pub(crate) fn free<const N: usize>() -> io::Result<[u16; N]> {
    let mut held = Vec::with_capacity(N);
    for _ in 0..N {
        held.push(hold_one()?);
    }
    let mut ports = [0; N];
    for (port, (number, _listener)) in ports.iter_mut().zip(&held) {
        *port = *number;
    }
    Ok(ports)
}

fn hold_one() -> io::Result<(u16, TcpListener)> {
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for attempt in 0..ATTEMPTS {
        // Each `RandomState` has keys of its own: a random number without a crate for it.
        let random = RandomState::new().hash_one(attempt);
        let port = FIRST + u16::try_from(random % u64::from(COUNT)).unwrap_or(0);
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => return Ok((port, listener)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn ports_differ_and_can_be_bound() {
        let ports = super::free::<8>().unwrap();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 8);
        assert!(ports.into_iter().all(can_be_bound));
    }

    /// In the end: a program that another test starts at this moment holds what we held until it has become itself.
    fn can_be_bound(port: u16) -> bool {
        (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            std::net::TcpListener::bind(("127.0.0.1", port)).is_ok()
        })
    }
}
