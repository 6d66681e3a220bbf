"""Figures of a GPU that is not partitioned: recorded, listed in share/gpus.toml by PCI id, name or architecture, or computed."""

import math
import tomllib

from common import REPOSITORY

LISTED = tomllib.loads((REPOSITORY / "share" / "gpus.toml").read_text())

# Columns that a rocpd database records of a GPU, by the columns of the table `agents`.
RECORDED = {
    "cu_count": "cu_count", "num_xcc": "num_xcc", "num_shader_banks": "shader_engines", "simd_per_cu": "simd_per_cu",
    "max_waves_per_simd": "max_waves_per_simd", "max_waves_per_cu": "max_waves_per_cu", "wave_front_size": "wave_size",
    "max_engine_clk_fcompute": "max_clock_mhz", "device_id": "pci_device_id",
}  # fmt: skip
# Columns of sysinfo.csv.
PROFILED = {
    "cu_per_gpu": "cu_count", "num_xcd": "num_xcc", "se_per_gpu": "shader_engines", "simd_per_cu": "simd_per_cu",
    "sqc_per_gpu": "scalar_caches", "pipes_per_gpu": "command_pipes", "max_sclk": "max_clock_mhz", "max_mclk": "mem_clock_mhz",
    "num_hbm_channels": "hbm_channels", "total_l2_chan": "l2_channels", "lds_banks_per_cu": "lds_banks", "wave_size": "wave_size",
    "max_waves_per_cu": "max_waves_per_cu", "gpu_chip_id": "pci_device_id",
}  # fmt: skip


def recorded_in_database(agent, detail):
    """The record of a GPU agent, by columns of `agents`."""
    facts = {column: detail.get(name) for name, column in RECORDED.items()} | {"architecture": agent["name"], "product": agent["product_name"]}
    bank = next(iter(detail.get("mem_banks", [])), {})
    facts |= {"mem_clock_mhz": bank.get("mem_clk_max"), "mem_bus_bits": bank.get("width")}
    return facts | {"lds_bytes": 1024 * detail["lds_size_in_kb"] if detail.get("lds_size_in_kb") else None}


def recorded_in_profile(info):
    """The record of the GPU of a folder of rocprofiler-compute."""
    facts = {column: float(info[name]) for name, column in PROFILED.items() if info.get(name)}
    facts |= {"architecture": info["gpu_arch"], "product": info["gpu_model"]}
    facts["max_waves_per_simd"] = facts["max_waves_per_cu"] / facts["simd_per_cu"]
    return facts | {"mem_bytes_per_s": float(info["hbm_bw"]) * 1e9 if info.get("hbm_bw") else None}


class Device:
    """The figures of a GPU by name: value, unit, source, whether it is weak, and reference."""

    def __init__(self, facts):
        self.facts, self.figures = facts, {}
        self.architecture = next((one for one in LISTED["architecture"] if one["name"] == facts["architecture"]), None)
        self.product, self.found_by = self.find_product()
        self.processors()
        self.memory()
        self.roofs()

    def find_product(self):
        """The product by its PCI id, else by its name, with how it was found."""
        products = [one for one in LISTED["product"] if one["architecture"] == self.facts["architecture"]]
        for one in products:
            if self.facts.get("pci_device_id") in one["pci_ids"]:
                return one, f"pci id {int(self.facts['pci_device_id']):#06x}"
        for one in products:
            if one["name"] in (self.facts.get("product") or "").split():
                return one, f"product {one['name']}"
        return None, None

    def listed(self, entry, source, name, factor=1.0):
        """A listed figure of a product or architecture; `name` may be in a group."""
        for origin, figures in (entry or {}).get("figures", {}).items():
            value = figures
            for part in name.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None:
                of_source = LISTED["source"][origin]
                return factor * value, source, of_source.get("weak", False), of_source["text"]
        return None

    def of_product(self, name, factor=1.0, shared=True):
        """A figure of a whole GPU; without a record of its dies it is only taken for one, which is said of what dies share."""
        found = self.listed(self.product, self.found_by, name, factor)
        if found is None or self.facts.get("num_xcc"):
            return found
        return *found[:2], True, f"{found[3]}; taken for the whole GPU, as no partition is recorded" if shared else found[3]

    def of_architecture(self, name, dies=None):
        found = self.listed(self.architecture, f"architecture {self.facts['architecture']}", name)
        if found and dies and dies != 1:
            return found[0] * dies, *found[1:3], f"{found[3]}; for each of {dies:g} XCDs"
        return found if dies is None or dies else None

    def record(self, column, formula=None, value=None):
        value = self.facts.get(column) if value is None else value
        return (float(value), "agent record", False, f"agents: {formula or column}") if value else None

    def computed(self, words, parts, formula, listed=None):
        """A figure of others that are known, and perhaps of one of the architecture."""
        known = [self.figures.get(part) for part in parts]
        if any(figure is None or figure[0] is None for figure in known):
            return None
        values, weak = [figure[0] for figure in known], any(figure[3] for figure in known)
        reference = "; ".join([words, *(f"{part}: {figure[2]}" for part, figure in zip(parts, known))])
        if listed:
            value, _, of_listed, text = self.of_architecture(listed) or (None, None, False, None)
            if value is None:
                return None
            values, weak, reference = [*values, value], weak or of_listed, f"{reference}; {listed} {value:g}: {text}"
        return formula(*values), "computed", weak, reference

    def choose(self, name, unit, *candidates):
        """Takes the first that there is."""
        value, source, weak, reference = next(filter(None, candidates), (None, "unknown", False, self.why_unknown()))
        self.figures[name] = (value, unit, source, weak, reference)

    def why_unknown(self):
        return "neither recorded nor listed for this product" if self.product else "not recorded, and the product is not known"

    def processors(self):
        product = lambda *values: math.prod(values)
        self.choose("num_xcd", "count", self.record("num_xcc"), self.of_product("num_xcd"))
        self.choose("num_cu", "count", self.record("cu_count"), self.of_product("num_cu"))
        self.choose("sclk_mhz", "MHz", self.record("max_clock_mhz"), self.listed(self.product, self.found_by, "sclk_mhz"))
        self.choose("simd_per_cu", "count", self.record("simd_per_cu"), self.of_architecture("simd_per_cu"))
        self.choose("num_simd", "count", self.computed("num_cu * simd_per_cu", ("num_cu", "simd_per_cu"), product))
        self.choose("wave_size", "work-items", self.record("wave_size"), self.of_architecture("wave_size"))
        self.choose("max_waves_per_simd", "count", self.record("max_waves_per_simd"), self.of_architecture("max_waves_per_simd"))
        words = "max_waves_per_simd * simd_per_cu"
        slots = self.computed(words, ("max_waves_per_simd", "simd_per_cu"), product)
        self.choose("waves_per_cu_max", "count", self.record("max_waves_per_cu"), slots)
        dies = self.figures["num_xcd"][0] or 0
        self.choose("num_se", "count", self.record("shader_engines"), self.of_architecture("num_se_per_xcd", dies))
        self.choose("num_pipes", "count", self.record("command_pipes"), self.of_architecture("pipes"))
        self.choose("lds_bytes", "bytes", self.record("lds_bytes"), self.of_architecture("lds_bytes"))
        self.choose("lds_banks", "count", self.record("lds_banks"), self.of_architecture("lds_banks"))
        words = "num_se * ceil(num_cu / num_se / cu_per_sqc)"
        shared = self.computed(words, ("num_se", "num_cu"), lambda se, cu, per: se * math.ceil(cu / se / per), "cu_per_sqc")
        self.choose("num_sqc", "count", self.record("scalar_caches"), shared)
        self.choose("l2_channels", "count", self.record("l2_channels"), self.of_architecture("l2_channels_per_xcd", dies))

    def memory(self):
        facts, transfers = self.facts, self.of_architecture("transfers_per_clock")
        clock = self.listed(self.product, self.found_by, "mclk_mhz")
        self.choose("mclk_mhz", "MHz", self.record("mem_clock_mhz"), clock)
        self.choose("hbm_channels", "count", self.record("hbm_channels"), self.of_architecture("hbm_channels"))
        stated = self.record("mem_bytes_per_s", value=(facts.get("mem_bytes_per_s") or 0) / 1e9)
        wide = transfers and facts.get("mem_clock_mhz") and facts.get("mem_bus_bits")
        of_width = None
        if wide:
            formula = f"mem_clock_mhz / 1000 * mem_bus_bits / 8 * {transfers[0]:g} transfers per clock"
            of_width = self.record(None, formula, facts["mem_clock_mhz"] / 1000 * facts["mem_bus_bits"] / 8 * transfers[0])
        self.choose("hbm_peak_gbps", "GB/s", stated, of_width, self.of_product("hbm_peak_gbps", shared=False))

    def groups(self, entry, group):
        return {name for figures in (entry or {}).get("figures", {}).values() for name in figures.get(group, {})}

    def roofs(self):
        rate = lambda *values: math.prod(values) / 1000
        for precision in self.groups(self.architecture, "ops") | self.groups(self.product, "tflops"):
            name, unit = named("peak", precision)
            words = "sclk_mhz * num_cu * operations / 1000"
            own = self.computed(words, ("sclk_mhz", "num_cu"), rate, f"ops.{precision}")
            self.choose(name, unit, own, self.of_product(f"tflops.{precision}", 1000))
        for precision in self.groups(self.product, "achievable_tflops"):
            self.choose(*named("achievable", precision), self.of_product(f"achievable_tflops.{precision}", 1000, shared=False))
        words = "sclk_mhz * l2_channels * bytes / 1000"
        self.choose("peak_l2_gbps", "GB/s", self.computed(words, ("sclk_mhz", "l2_channels"), rate, "bytes_per_clock_l2_channel"))
        for level in ("l1", "lds"):
            words = "sclk_mhz * num_cu * bytes / 1000"
            self.choose(f"peak_{level}_gbps", "GB/s", self.computed(words, ("sclk_mhz", "num_cu"), rate, f"bytes_per_clock_{level}"))

    def constants(self):
        """The values alone, by name."""
        return {name: figure[0] for name, figure in self.figures.items()}


def named(prefix, precision):
    whole = "int" in precision
    return f"{prefix}_{precision}_{'gops' if whole else 'gflops'}", "GOP/s" if whole else "GFLOP/s"
