//! Hardware blocks that count, and how many counters of each fit into a pass: `share/counter_blocks.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CounterBlocksFile {
    block: Vec<BlockForm>,
    architecture: Vec<ArchitectureForm>,
    renamed: Vec<RenamedForm>,
    apart: Vec<ApartForm>,
    without_accumulation: Vec<WithoutForm>,
    unknown: Vec<UnknownForm>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockForm {
    name: String,
    #[serde(rename = "title")]
    _title: String,
    prefixes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArchitectureForm {
    names: Vec<String>,
    source: String,
    others: Option<String>,
    limits: BTreeMap<String, usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RenamedForm {
    prefix: String,
    architectures: Vec<String>,
    there: String,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApartForm {
    names: Vec<String>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithoutForm {
    architectures: Vec<String>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnknownForm {
    names: Vec<String>,
    reason: String,
}

/// Why a counter does not fit into any pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The built-in tables do not state how many counters its blocks hold.
    #[error("counter limits of {architecture} are unknown{reason}; known: {known}; pass --block-limit")]
    Architecture {
        architecture: String,
        known: String,
        /// The reason, in parentheses.
        reason: String,
    },
    /// A name without a block.
    #[error("{counter} belongs to no known block; give the room of its block as --block-limit {block}=N")]
    NoBlock {
        counter: String,
        /// Possible names of its block.
        block: String,
    },
    /// A block that the architecture does not have.
    #[error(
        "{counter} belongs to the block {block}, which {architecture} does not have ({has}); if it does, say --block-limit {block}=N"
    )]
    NotThere { counter: String, block: String, architecture: String, has: String },
}

/// Facts about blocks.
#[derive(Debug, Default, Deserialize)]
pub struct CounterBlocks(CounterBlocksFile);

impl CounterBlocks {
    /// The facts of `share/counter_blocks.toml`.
    pub fn builtin() -> &'static Self {
        shared!(CounterBlocks, "share/counter_blocks.toml")
    }

    /// The architectures whose blocks are known, by their LLVM names.
    pub fn architectures(&self) -> impl Iterator<Item = &str> {
        self.0.architecture.iter().flat_map(|one| &one.names).map(String::as_str)
    }

    /// Why the blocks of an architecture are not known, if the reason is documented.
    pub fn unknown(&self, architecture: &str) -> Option<&str> {
        let is_named = |one: &&UnknownForm| one.names.iter().any(|name| name == architecture);
        self.0.unknown.iter().find(is_named).map(|one| one.reason.as_str())
    }

    /// The blocks of an architecture. `limits` are the limits of the user. They come first and may name further blocks.
    ///
    /// # Errors
    /// If neither is known.
    pub fn for_architecture(
        &self,
        architecture: &str,
        limits: &BTreeMap<String, usize>,
    ) -> Result<ArchitectureBlocks, BlockError> {
        let find = |name: &str| self.0.architecture.iter().find(|one| one.names.iter().any(|known| known == name));
        let found = find(architecture);
        if found.is_none() && limits.is_empty() {
            let reason = self.unknown(architecture).map(|reason| format!(" ({reason})"));
            return Err(BlockError::Architecture {
                architecture: architecture.to_owned(),
                known: self.architectures().collect::<Vec<_>>().join(", "),
                reason: reason.unwrap_or_default(),
            });
        }
        let others = found.and_then(|one| one.others.as_deref()).and_then(find);
        let mut room: BTreeMap<String, usize> = BTreeMap::new();
        for form in [others, found].into_iter().flatten() {
            room.extend(form.limits.iter().map(|(block, limit)| (block.clone(), *limit)));
        }
        let own = found.map(|one| one.limits.keys().cloned().collect()).unwrap_or_default();
        room.extend(limits.iter().map(|(block, limit)| (block.clone(), *limit)));
        let mut prefixes: Vec<(String, String)> = Vec::new();
        for block in &self.0.block {
            prefixes.extend(block.prefixes.iter().map(|prefix| (prefix.clone(), block.name.clone())));
        }
        let named = |name: &String| self.0.block.iter().any(|block| block.name == *name);
        prefixes.extend(limits.keys().filter(|name| !named(name)).map(|name| (format!("{name}_"), name.clone())));
        prefixes.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        let renamed = self.0.renamed.iter().filter(|one| one.architectures.iter().any(|name| name == architecture));
        Ok(ArchitectureBlocks {
            architecture: architecture.to_owned(),
            sources: [found, others].into_iter().flatten().map(|form| form.source.clone()).collect(),
            limits: room,
            own,
            prefixes,
            renamed: renamed.map(|one| (one.prefix.clone(), one.there.clone())).collect(),
        })
    }

    /// Groups of derived counters whose own counters never share a pass.
    pub fn apart(&self) -> impl Iterator<Item = &[String]> {
        self.0.apart.iter().map(|one| one.names.as_slice())
    }

    /// Whether rocprofv3 reports values that the hardware accumulates on an architecture.
    pub fn accumulates(&self, architecture: &str) -> bool {
        let is_without = |one: &WithoutForm| one.architectures.iter().any(|name| name == architecture);
        !self.0.without_accumulation.iter().any(is_without)
    }
}

#[derive(Clone, Debug)]
pub struct ArchitectureBlocks {
    /// LLVM name.
    pub architecture: String,
    /// Sources of the figures.
    pub sources: Vec<String>,
    /// Counters that a pass can hold, by block.
    pub limits: BTreeMap<String, usize>,
    own: Vec<String>,
    prefixes: Vec<(String, String)>,
    renamed: Vec<(String, String)>,
}

impl ArchitectureBlocks {
    /// The block of a counter, by the longest prefix.
    ///
    /// # Errors
    /// If the counter has no block, or the architecture lacks it.
    pub fn block_of(&self, counter: &str) -> Result<&str, BlockError> {
        let Some((_, block)) = self.prefixes.iter().find(|(prefix, _)| counter.starts_with(prefix.as_str())) else {
            let block = counter.split_once('_').map_or(counter, |(block, _)| block).to_owned();
            return Err(BlockError::NoBlock { counter: counter.to_owned(), block });
        };
        if !self.limits.contains_key(block) {
            return Err(BlockError::NotThere {
                counter: counter.to_owned(),
                block: block.clone(),
                architecture: self.architecture.clone(),
                has: self.own.join(", "),
            });
        }
        Ok(block)
    }

    /// Name on this architecture of a counter of other architectures; `None` if no renaming is known.
    pub fn renamed(&self, counter: &str) -> Option<String> {
        let (prefix, there) = self.renamed.iter().find(|(prefix, _)| counter.starts_with(prefix.as_str()))?;
        Some(format!("{there}{}", counter.strip_prefix(prefix.as_str())?))
    }
}
