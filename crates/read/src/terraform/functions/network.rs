//! Functions on addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Arguments, Outcome, Stop};
use crate::terraform::value::Value;

pub(super) fn call(name: &str, given: &Arguments<'_>) -> Option<Outcome> {
    Some(match name {
        "cidrhost" => host(given),
        "cidrnetmask" => netmask(given),
        "cidrsubnet" => subnet(given),
        "cidrsubnets" => subnets(given),
        _ => return None,
    })
}

/// A network: where it begins, how long its prefix is, and how long an address.
#[derive(Clone, Copy)]
struct Network {
    base: u128,
    prefix: u32,
    width: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let (address, width) = match address.parse().ok()? {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
            IpAddr::V6(address) => (address.to_bits(), 128),
        };
        let prefix: u32 = prefix.parse().ok().filter(|prefix| *prefix <= width)?;
        let base = address & !ones(width - prefix);
        Some(Self { base, prefix, width })
    }

    fn write(self, address: u128) -> Option<String> {
        if self.width == 128 {
            return Some(Ipv6Addr::from_bits(address).to_string());
        }
        u32::try_from(address).ok().map(|bits| Ipv4Addr::from_bits(bits).to_string())
    }

    /// The part of it with that number, of those whose prefix is so many bits longer.
    fn part(self, bits: u32, number: u128) -> Option<Self> {
        let prefix = self.prefix.checked_add(bits).filter(|prefix| *prefix <= self.width)?;
        if number > ones(bits) {
            return None;
        }
        let rest = self.width - prefix;
        let offset = if rest >= 128 { 0 } else { number << rest };
        Some(Self { base: self.base | offset, prefix, ..self })
    }

    fn text(self) -> Outcome {
        let written = self.write(self.base).ok_or(Stop::Wrong)?;
        Ok(Value::text(format!("{written}/{}", self.prefix)))
    }
}

/// So many bits that are set, from the right.
fn ones(bits: u32) -> u128 {
    u128::MAX.checked_shr(128_u32.saturating_sub(bits)).unwrap_or(0)
}

fn network(given: &Arguments<'_>) -> Result<Network, Stop> {
    Network::parse(&given.text(0)?).ok_or(Stop::Wrong)
}

fn host(given: &Arguments<'_>) -> Outcome {
    let (network, number) = (network(given)?, given.integer(1)?);
    let last = ones(network.width - network.prefix);
    let offset = match u128::from(number.unsigned_abs()) {
        offset if number >= 0 => offset,
        // From the end.
        offset => last.checked_sub(offset - 1).ok_or(Stop::Wrong)?,
    };
    if offset > last {
        return Err(Stop::Wrong);
    }
    network.write(network.base | offset).map(Value::text).ok_or(Stop::Wrong)
}

fn netmask(given: &Arguments<'_>) -> Outcome {
    let network = network(given)?;
    if network.width == 128 {
        return Err(Stop::Wrong);
    }
    network.write(ones(32) & !ones(32 - network.prefix)).map(Value::text).ok_or(Stop::Wrong)
}

fn subnet(given: &Arguments<'_>) -> Outcome {
    let bits = u32::try_from(given.integer(1)?).map_err(|_| Stop::Wrong)?;
    let number = u128::try_from(given.integer(2)?).map_err(|_| Stop::Wrong)?;
    network(given)?.part(bits, number).ok_or(Stop::Wrong)?.text()
}

/// One after the other, each where the one before it ends.
fn subnets(given: &Arguments<'_>) -> Outcome {
    let network = network(given)?;
    let mut next = network.base;
    let mut found = Vec::new();
    for index in 1..given.count() {
        let bits = u32::try_from(given.integer(index)?).map_err(|_| Stop::Wrong)?;
        let first = network.part(bits, 0).ok_or(Stop::Wrong)?;
        let last = ones(network.width - first.prefix);
        let base = next.checked_add(last).ok_or(Stop::Wrong)? & !last;
        if base & !ones(network.width - network.prefix) != network.base {
            return Err(Stop::Wrong);
        }
        found.push(Network { base, ..first }.text()?);
        next = base.checked_add(last).and_then(|end| end.checked_add(1)).ok_or(Stop::Wrong)?;
    }
    Ok(Value::list(found))
}
