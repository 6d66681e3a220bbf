//! A database of one process.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use crate::arguments::Arguments;
use crate::catalogue::COUNTERS;
use crate::command::Command;
use crate::kernels::Kernel;
use crate::model::{Counter, CounterTemplate, KernelSymbol, KernelTemplate, Module, Role, Setup};
use crate::platform::{self, Pass};
use crate::random::{Random, splitmix64};
use crate::rocpd::RocpdFile;
use crate::timeline;

const PAGE_SIZE: u32 = 4096;
/// Instances of a counter of the hardware.
const XCCS: u64 = 8;
/// Value of a counter that is not in the catalogue, per instance and microsecond.
const USUAL_RATE: u64 = 1_000;
/// Time between two runs.
const RUN_NS: u64 = 60_000_000_000;

/// A process of a run.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    pub rank: u64,
    pub ranks: u64,
    pub seed: u64,
    /// Mixed into the seed for values that differ by run.
    pub mixed: u64,
    /// Which run it is, from 0.
    pub run: u64,
}

impl Process {
    /// Everything but what it does.
    pub fn setup(&self, kernels: &[Kernel], command: &Command) -> Result<(Setup, i64)> {
        let (ranks, seed) = (self.ranks.to_string(), self.seed.to_string());
        let words = ["fake_rocprofv3", "--ranks", &ranks, "--seed", &seed, "--output", "."];
        let arguments = Arguments::try_parse_from(words)?;
        let mut setup = platform::setup(&arguments, self.rank, Pass::Main);
        let agent_id = platform::used_agents(&arguments, self.rank).first().copied().unwrap_or(1);
        // The machine stays the same; the process is another in each run.
        let mut state = self.seed ^ self.mixed ^ (self.run + 1).wrapping_mul(0x1_0000_0001) ^ (self.rank << 48);
        let kept: String = setup.process.guid.chars().take(24).collect();
        setup.process.guid = format!("{kept}{:012x}", splitmix64(&mut state) & 0xFFFF_FFFF_FFFF);
        setup.process.start_ns += self.run * RUN_NS;
        setup.process.command = command.application.join(" ");
        setup.code_objects.retain(|object| object.agent_id == agent_id);
        setup.code_objects.truncate(1);
        let code_object_id = setup.code_objects.first().map_or(1, |object| object.id);
        let symbol = |(id, kernel): (i64, &Kernel)| KernelSymbol {
            id,
            code_object_id,
            template: template(kernel),
            kernel_object: 0x7EF0_0000_0000 + id * 64,
        };
        setup.symbols = (1..).zip(kernels).map(symbol).collect();
        let counter = |(id, name): (i64, &String)| {
            let template = counter_template(name);
            let instances = if template.per_xcc { XCCS } else { 1 };
            Counter { id, agent_id, instances, collected: true, template }
        };
        let names: std::collections::BTreeSet<&String> = command.passes.iter().flatten().collect();
        setup.counters = (1..).zip(names).map(counter).collect();
        Ok((setup, agent_id))
    }

    /// Writes the database.
    pub fn write(&self, path: &Path, kernels: &[Kernel], command: &Command) -> Result<()> {
        let (setup, agent_id) = self.setup(kernels, command)?;
        let mut random = Random::new(self.seed ^ self.mixed, 9_000_000 + self.run * 1_000 + self.rank);
        let mut file = RocpdFile::create(path, PAGE_SIZE)?;
        let mut writer = file.add_process(&setup)?;
        let end_ns = timeline::run(&setup, agent_id, kernels, command, &mut random, &mut writer)?;
        writer.finish(end_ns)?;
        file.add_views()?;
        file.close(false)
    }
}

/// Templates live as long as the program, which is short.
fn template(kernel: &Kernel) -> &'static KernelTemplate {
    let name: &'static str = Box::leak(kernel.name.clone().into_boxed_str());
    let short = name.split(['(', '<']).next().unwrap_or(name);
    let short = short.strip_prefix("void ").unwrap_or(short);
    Box::leak(Box::new(KernelTemplate {
        mangled_name: name,
        display_name: name,
        truncated_name: short,
        module: Module::Framework,
        role: Role::Both,
        base_duration_ns: kernel.duration_ns,
        workgroup: [kernel.resources.threads, 1, 1],
        workgroups: [1024, 1],
        arch_vgpr_count: kernel.resources.vgpr.into(),
        accum_vgpr_count: kernel.resources.accum_vgpr.into(),
        sgpr_count: kernel.resources.sgpr.into(),
        lds_bytes: kernel.resources.lds_bytes.into(),
        scratch_bytes: 0,
    }))
}

fn counter_template(name: &str) -> &'static CounterTemplate {
    if let Some(known) = COUNTERS.iter().find(|template| template.name == name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let block = name.split('_').next().unwrap_or(name);
    let is_derived = !name.contains('_');
    Box::leak(Box::new(CounterTemplate {
        name,
        block: if is_derived { "" } else { block },
        description: "",
        expression: "",
        per_xcc: !is_derived,
        rate_per_us: USUAL_RATE,
    }))
}
