"""The query `memory_chart` by hand: what each level is asked, finds and moves, out of the counters of one architecture."""

import math

from .case import Case
from .metric_table import gpus_of
from .sums import grouped, mean, percent

# For gfx950: numerator and denominator in Python, over counters (upper case) and constants (lower case); `per` is what counts are per.
WITH_RETURN, WITHOUT_RETURN = "TCP_TOTAL_ATOMIC_WITH_RET_sum", "TCP_TOTAL_ATOMIC_WITHOUT_RET_sum"
TO_L2 = "(TCP_TCC_READ_REQ_sum + TCP_TCC_WRITE_REQ_sum + TCP_TCC_ATOMIC_WITH_RET_REQ_sum + TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum)"
ICACHE = "(SQC_ICACHE_HITS + SQC_ICACHE_MISSES + SQC_ICACHE_MISSES_DUPLICATE)"
DCACHE = "(SQC_DCACHE_HITS + SQC_DCACHE_MISSES + SQC_DCACHE_MISSES_DUPLICATE)"
READ_BYTES = "(128 * TCC_EA0_RDREQ_128B_sum + 64 * TCC_EA0_RDREQ_64B_sum + 32 * TCC_EA0_RDREQ_32B_sum)"
WRITE_BYTES = "(64 * TCC_EA0_WRREQ_64B_sum + 32 * (TCC_EA0_WRREQ_sum - TCC_EA0_WRREQ_64B_sum))"
LEVELS = {
    "LDS": {
        "reads": ("SQ_INSTS_LDS", "per"),
        "read_latency_cycles": ("SQ_INST_LEVEL_LDS_ACCUM", "SQ_INSTS_LDS"),
        "gbps": ("(SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT) * 4 * lds_banks", "dur_ns"),
        "peak_gbps": "sclk_mhz * num_cu * 128 / 1000",
    },
    "vector L1": {
        "reads": ("TCP_TOTAL_READ_sum", "per"),
        "writes": ("TCP_TOTAL_WRITE_sum", "per"),
        "atomics": (f"{WITH_RETURN} + {WITHOUT_RETURN}", "per"),
        "hit_pct": (f"100 * (TCP_TOTAL_CACHE_ACCESSES_sum - {TO_L2})", "TCP_TOTAL_CACHE_ACCESSES_sum"),
        "gbps": ("64 * TCP_TOTAL_CACHE_ACCESSES_sum", "dur_ns"),
        "peak_gbps": "sclk_mhz * num_cu * 128 / 1000",
    },
    "scalar L1": {
        "reads": ("SQC_DCACHE_REQ", "per"),
        "hit_pct": ("100 * SQC_DCACHE_HITS", DCACHE),
        "gbps": ("64 * SQC_DCACHE_REQ", "dur_ns"),
        "peak_gbps": "sclk_mhz * num_sqc * 64 / 1000",
    },
    "instruction L1": {
        "reads": ("SQC_ICACHE_REQ", "per"),
        "hit_pct": ("100 * SQC_ICACHE_HITS", ICACHE),
        "read_latency_cycles": ("SQ_IFETCH_LEVEL_ACCUM", "SQ_IFETCH"),
        "gbps": ("64 * SQC_ICACHE_REQ", "dur_ns"),
        "peak_gbps": "sclk_mhz * num_sqc * 64 / 1000",
    },
    "L2": {
        "reads": ("TCC_READ_sum", "per"),
        "writes": ("TCC_WRITE_sum", "per"),
        "atomics": ("TCC_ATOMIC_sum", "per"),
        "hit_pct": ("100 * TCC_HIT_sum", "TCC_HIT_sum + TCC_MISS_sum"),
        "gbps": ("128 * TCC_REQ_sum", "dur_ns"),
        "peak_gbps": "sclk_mhz * l2_channels * 128 / 1000",
    },
    "fabric": {
        "reads": ("TCC_EA0_RDREQ_sum", "per"),
        "writes": ("TCC_EA0_WRREQ_sum", "per"),
        "atomics": ("TCC_EA0_ATOMIC_sum", "per"),
        "read_latency_cycles": ("TCC_EA0_RDREQ_LEVEL_sum", "TCC_EA0_RDREQ_sum"),
        "write_latency_cycles": ("TCC_EA0_WRREQ_LEVEL_sum", "TCC_EA0_WRREQ_sum"),
        "gbps": (f"{READ_BYTES} + {WRITE_BYTES}", "dur_ns"),
        "peak_gbps": "hbm_peak_gbps",
    },
    "HBM": {"reads": ("TCC_EA0_RDREQ_DRAM_sum", "per"), "writes": ("TCC_EA0_WRREQ_DRAM_sum", "per")},
}
COLUMNS = ("reads", "writes", "atomics", "hit_pct", "read_latency_cycles", "write_latency_cycles", "gbps")
PER = {"wave": "SQ_WAVES", "cycle": "GRBM_GUI_ACTIVE / num_xcd", "second": "dur_ns / 1e9", "kernel": "1"}


def calculated(text, names):
    """The value of an expression, nothing where it names what is not known."""
    try:
        return float(eval(text, {"__builtins__": {}}, names))
    except NameError:
        return None


def measured(dispatches, names_of, pair, per, agg):
    """A column of a level over some dispatches: ratio of the sums, or mean of the ratios, of those that have all counters."""
    numerator, denominator = pair
    denominator = PER[per] if denominator == "per" else denominator
    parts = [(calculated(numerator, names_of(row)), calculated(denominator, names_of(row))) for row in dispatches]
    parts = [part for part in parts if None not in part]
    if agg == "mean":
        return mean(above / below for above, below in parts if below)
    below = math.fsum(part[1] for part in parts)
    return math.fsum(part[0] for part in parts) / below if below else None


def memory_chart(source, options):
    by, records = options.by(), []
    (gpu,) = gpus_of(source)
    assert gpu.architecture == "gfx950"
    constants = {name: value for name, value in gpu.known.constants.items() if value is not None}

    def names_of(row):
        return constants | row["properties"] | {name: value for (name, _), value in row["counters"].items()}

    for key, dispatches in sorted(grouped(gpu.dispatches, list(by)).items()):
        for level, columns in LEVELS.items():
            record = dict(zip(by, key)) | {"level": level}
            for column in COLUMNS:
                pair = columns.get(column)
                record[column] = pair and measured(dispatches, names_of, pair, options.text("per", "wave"), options.text("agg", "ratio"))
            record["peak_gbps"] = calculated(columns["peak_gbps"], constants) if "peak_gbps" in columns else None
            if any(record[column] is not None for column in COLUMNS):
                records.append(record | {"pct_of_peak": percent(record["gbps"], record["peak_gbps"])})
    return records


OPTIONS = [()] + [("--per", per) for per in ("cycle", "second", "kernel")] + [("--agg", "mean"), ("--by", "kernel_name"), ("--by", "rank,gpu")]

QUERIES = {"memory_chart": Case(memory_chart, ("profile",), tuple(OPTIONS))}
