//! The files, and the statements that select their rows.

use wavesieve_engine::COPY_NAME;

/// The program whose files are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Flavor {
    /// rocprofv3: a set of files for each process
    #[default]
    Rocprofv3,
    /// `rocpd convert`: one set of files, with the guid of each process
    Rocpd,
}

/// A file, and the statement that selects its rows.
pub(super) struct Listing {
    pub stem: String,
    sql: String,
}

const KERNELS: &str = data!("queries/_rocprofv3/kernel_trace.sql");
const CALLS: &str = data!("queries/_rocprofv3/api_trace.sql");
const COPIES: &str = data!("queries/_rocprofv3/memory_copy_trace.sql");
const ALLOCATIONS: &str = data!("queries/_rocprofv3/memory_allocation_trace.sql");
const SCRATCH: &str = data!("queries/_rocprofv3/scratch_memory_trace.sql");
const COUNTERS: &str = data!("queries/_rocprofv3/counter_collection.sql");
const PC_SAMPLES: &str = data!("queries/_rocprofv3/pc_sampling.sql");
const ISSUED: &str = data!("queries/_rocprofv3/pc_sampling_issued.sql");
const STATS: &str = data!("queries/_rocprofv3/stats.sql");
const COPY_NAMES: &str = data!("queries/_rocprofv3/copy_stats.sql");
pub(super) const AGENTS: &str = data!("queries/_rocprofv3/agent_info.sql");
/// Domains of calls that have files of their own.
const DOMAINS: [&str; 6] = ["hip", "hsa", "marker", "rccl", "rocdecode", "rocjpeg"];
/// LDS as rocprofv3 reports it, and as `rocpd convert` does.
const STATIC_LDS: &str = "CAST(ceil(COALESCE(s.lds_static_bytes, {of}.lds_bytes, 0) / 512.0) AS BIGINT) * 512";
const DYNAMIC_LDS: &str = "{of}.lds_bytes";

impl Flavor {
    /// The files in the order in which they are written.
    pub(super) fn listings(self) -> Vec<Listing> {
        let lds = |of: &str| self.choose(STATIC_LDS, DYNAMIC_LDS).replace("{of}", of);
        let suffix = self.choose("", "_trace");
        let file = |stem: &str, sql: &str| Listing { stem: stem.to_owned(), sql: sql.to_owned() };
        let mut files = vec![file("kernel_trace", &KERNELS.replace("{lds}", &lds("k")))];
        match self {
            Self::Rocprofv3 => {
                let others = format!("domain NOT IN ('{}')", DOMAINS.join("', '"));
                let domains = DOMAINS.iter().map(|domain| (*domain, format!("domain = '{domain}'")));
                for (name, condition) in domains.chain([("other", others)]) {
                    files.push(file(&format!("{name}_api_trace"), &CALLS.replace("{domain}", &condition)));
                }
            }
            Self::Rocpd => files.push(file("regions_trace", &CALLS.replace("{domain}", "TRUE"))),
        }
        files.push(file("memory_copy_trace", COPIES));
        files.push(file("memory_allocation_trace", ALLOCATIONS));
        files.push(file("scratch_memory_trace", SCRATCH));
        files.push(file(&format!("counter_collection{suffix}"), &COUNTERS.replace("{lds}", &lds("d"))));
        for (stem, is_stochastic, issued) in
            [("pc_sampling_host_trap", "FALSE", ""), ("pc_sampling_stochastic", "TRUE", ISSUED.trim_end())]
        {
            let sql = PC_SAMPLES.replace("{is_stochastic}", is_stochastic).replace("{issued}", issued);
            files.push(file(stem, &sql));
        }
        if self == Self::Rocprofv3 {
            let of = |table: &str, name: &str| {
                format!("SELECT {name} AS name, duration_ns FROM {table} WHERE process = {{process}} AND valid")
            };
            let kernels = of("kernels", "CAST(kernel_name AS VARCHAR)");
            let call = |domain: &str, name: &str| format!("{} AND domain = '{domain}'", of("regions", name));
            files.push(file("kernel_stats", &STATS.replace("{rows}", &kernels)));
            for domain in DOMAINS {
                let name = if domain == "marker" {
                    "COALESCE(NULLIF(message, ''), CAST(name AS VARCHAR))"
                } else {
                    "CAST(name AS VARCHAR)"
                };
                files.push(file(&format!("{domain}_api_stats"), &STATS.replace("{rows}", &call(domain, name))));
            }
            files.push(file("memory_copy_stats", &STATS.replace("{rows}", COPY_NAMES)));
            let domains = DOMAINS.map(|domain| call(domain, &format!("'{}_API'", domain.to_uppercase())));
            let all = [of("kernels", "'KERNEL_DISPATCH'"), of("memory_copies", "'MEMORY_COPY'")];
            let rows: Vec<String> = all.into_iter().chain(domains).collect();
            files.push(file("domain_stats", &STATS.replace("{rows}", &rows.join(" UNION ALL "))));
        }
        files
    }

    fn choose(self, rocprofv3: &'static str, rocpd: &'static str) -> &'static str {
        if self == Self::Rocprofv3 { rocprofv3 } else { rocpd }
    }

    /// A statement for a process.
    pub(super) fn statement(self, sql: &str, process: i64) -> String {
        sql.replace("{guid}", self.choose("", "p.guid AS \"Guid\","))
            .replace("{duration}", self.choose("", "k.end_ns - k.start_ns AS \"Duration\","))
            .replace("{copy_name}", COPY_NAME)
            .replace("{process}", &process.to_string())
    }
}

impl Listing {
    pub(super) fn statement(&self, flavor: Flavor, process: i64) -> String {
        flavor.statement(&self.sql, process)
    }
}
