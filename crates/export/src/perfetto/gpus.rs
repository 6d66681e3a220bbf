//! The GPUs of a file. GPU events refer to them by their place in the list.

use super::wire::Message;
use wavesieve_model::schema::facts::AgentFacts;
use wavesieve_model::schema::process::Process;

/// Start of the names of AMD's architectures.
const AMD: &str = "gfx";

/// A GPU of a process.
pub(super) struct Gpu<'a> {
    pub process: i64,
    pub gpu: i64,
    rank: i64,
    agent: &'a AgentFacts,
}

/// The GPUs of a process in their order.
pub(super) fn gpus(process: &Process) -> Vec<Gpu<'_>> {
    let known = process.facts.agents.iter().filter(|agent| agent.is_gpu());
    let number = |agent: &AgentFacts| process.gpus.get(&agent.agent_id).map(|gpu| gpu.gpu);
    let mut gpus: Vec<Gpu<'_>> = known
        .filter_map(|agent| Some(Gpu { process: process.process, gpu: number(agent)?, rank: process.rank, agent }))
        .collect();
    gpus.sort_by_key(|gpu| gpu.gpu);
    gpus.dedup_by_key(|gpu| gpu.gpu);
    gpus
}

impl Gpu<'_> {
    /// Writes perfetto's `GpuInfo.Gpu`.
    pub(super) fn write(&self, to: &mut Message) {
        let (agent, product) = (self.agent, self.agent.product_name.as_deref());
        let name = product.map_or_else(|| format!("GPU {} · {}", self.gpu, agent.name), str::to_owned);
        to.data(1, name.as_bytes());
        if agent.name.starts_with(AMD) {
            to.data(2, b"AMD");
        }
        if let Some(product) = product {
            to.data(3, product.as_bytes());
        }
        to.data(4, agent.name.as_bytes());
        if let Some(uuid) = agent.uuid.as_deref().and_then(bytes) {
            to.data(5, &uuid);
        }
        for (key, value) in [("rank", self.rank), ("gpu", self.gpu), ("agent_id", agent.agent_id)] {
            to.message(6, |pair| {
                pair.data(1, key.as_bytes());
                pair.data(2, value.to_string().as_bytes());
            });
        }
    }
}

/// The bytes of hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = digits.chars().map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high << 4 | low).ok(),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn ids_are_hexadecimal() {
        assert_eq!(bytes("00ffA1"), Some(vec![0, 255, 0xa1]));
        assert_eq!((bytes("0"), bytes("zz")), (None, None));
    }
}
