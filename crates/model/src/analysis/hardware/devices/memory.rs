//! Device memory specs, which the parts of a partitioned GPU share in ways that no record reports.

use crate::analysis::hardware::devices::resolver::Resolver;

/// Bytes that an HBM channel moves per memory clock: AMD's `clock / 1000 * 32 * channels`, in GB/s.
const BYTES_PER_CHANNEL: f64 = 32.0;

/// Chooses `mclk_mhz`, `hbm_channels` and `hbm_peak_gbps`. The record of a part of a GPU has the clock and width of the
/// whole.
pub fn choose(resolver: &mut Resolver<'_>) {
    let agent = resolver.agent;
    let clock = [resolver.recorded(agent.mem_clock_mhz, "mem_clock_mhz"), resolver.product("mclk_mhz")];
    resolver.choose("mclk_mhz", "MHz", clock);

    let whole = resolver.share.is_whole();
    let channels = [
        resolver.recorded(agent.hbm_channels, "hbm_channels"),
        resolver.product_whole("hbm_channels"),
        resolver.architecture("hbm_channels").filter(|_| whole),
    ];
    resolver.choose("hbm_channels", "count", channels);

    let stated = agent.mem_bytes_per_s.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64 / 1e9);
    let recorded_channels = agent.hbm_channels.is_some_and(|channels| channels > 0);
    let of_channels =
        resolver.computed(&["mclk_mhz", "hbm_channels"], None, "mclk_mhz / 1000 * 32 * hbm_channels", |parts| {
            match parts {
                [clock, channels] => clock / 1000.0 * BYTES_PER_CHANNEL * channels,
                _ => f64::NAN,
            }
        });
    let transfers = resolver.architecture("transfers_per_clock");
    let of_width = transfers.zip(agent.mem_clock_mhz).zip(agent.mem_bus_bits).map(|((transfers, clock), bits)| {
        let transfers = transfers.value();
        let how = format!("mem_clock_mhz / 1000 * mem_bus_bits / 8 * {transfers} transfers per clock");
        (clock as f64 / 1000.0 * bits as f64 / 8.0 * transfers, how)
    });
    let of_width = of_width.filter(|_| whole).and_then(|(value, how)| resolver.of_record(Some(value), &how));
    let peak = [
        resolver.of_record(stated, "mem_bytes_per_s"),
        of_channels.filter(|_| recorded_channels),
        of_width,
        resolver.product_whole("hbm_peak_gbps"),
    ];
    resolver.choose("hbm_peak_gbps", "GB/s", peak);
}
