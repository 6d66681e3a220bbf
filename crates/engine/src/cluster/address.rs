//! Address of a cluster.

use std::fmt;
use std::str::FromStr;

const SCHEME: &str = "ballista://";

/// `ballista://HOST:PORT` of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    host_and_port: String,
}

impl Address {
    /// `HOST:PORT`.
    pub(crate) fn host_and_port(&self) -> &str {
        &self.host_and_port
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an address of a cluster; write {SCHEME}HOST:PORT of its scheduler");
        let host_and_port = text.strip_prefix(SCHEME).ok_or_else(wrong)?;
        let (host, port) = host_and_port.rsplit_once(':').ok_or_else(wrong)?;
        // Only IPv6 addresses contain colons, and they are in brackets.
        let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => {
                !host.is_empty() && host.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter))
            }
        };
        let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
        if is_host && is_port { Ok(Self { host_and_port: host_and_port.to_owned() }) } else { Err(wrong()) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}", self.host_and_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_with_ports_are_addresses() {
        for text in ["ballista://localhost:50050", "ballista://10.0.0.1:1", "ballista://[::1]:50050"] {
            assert_eq!(text.parse::<Address>().map(|address| address.to_string()).as_deref(), Ok(text));
        }
        let wrong = ["", "local", "ballista://", "ballista://host", "ballista://host:0", "ballista://host:70000"];
        let more = ["http://host:1", "ballista://:1", "ballista://a:b:1", "ballista://host:1/path", "ballista://a@b:1"];
        for text in wrong.into_iter().chain(more) {
            assert!(text.parse::<Address>().unwrap_err().contains("ballista://HOST:PORT"), "{text}");
        }
    }
}
