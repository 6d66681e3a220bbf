"""Reads folders of rocprofiler-compute: a row of `pmc_perf.csv` for each dispatch, and what `sysinfo.csv` says of the GPU."""

import csv
import re

# The names that formulas have for columns of sysinfo.csv.
CONSTANTS = {
    "cu_per_gpu": "num_cu", "num_xcd": "num_xcd", "se_per_gpu": "num_se", "simd_per_cu": "simd_per_cu", "sqc_per_gpu": "num_sqc",
    "pipes_per_gpu": "num_pipes", "max_sclk": "sclk_mhz", "max_mclk": "mclk_mhz", "num_hbm_channels": "hbm_channels",
    "hbm_bw": "hbm_peak_gbps", "total_l2_chan": "l2_channels", "lds_banks_per_cu": "lds_banks", "wave_size": "wave_size",
    "max_waves_per_cu": "waves_per_cu_max",
}  # fmt: skip
PROPERTIES = {
    "Grid_Size": "grid_size", "Workgroup_Size": "workgroup_size", "Arch_VGPR": "arch_vgpr", "Accum_VGPR": "accum_vgpr", "SGPR": "sgpr",
    "LDS_Per_Workgroup": "lds_per_workgroup", "Scratch_Per_Workitem": "scratch_per_workitem",
}  # fmt: skip
OTHERS = {"Dispatch_ID", "Kernel_Name", "GPU_ID", "Start_Timestamp", "End_Timestamp", "obj", "wave_size", *PROPERTIES}
ACCUMULATOR = "SQ_ACCUM_PREV_HIRES"


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class Profile:
    """One folder: a GPU with its constants, and its dispatches with their counters."""

    def __init__(self, folder, rank):
        info = rows_of(folder / "sysinfo.csv")[0]
        self.rank = rank
        self.architecture = info["gpu_arch"]
        self.constants = {name: float(info[column]) for column, name in CONSTANTS.items() if info.get(column)}
        self.constants["num_simd"] = self.constants["num_cu"] * self.constants["simd_per_cu"]
        self.dispatches = [self.dispatch(row) for row in rows_of(folder / "pmc_perf.csv")]
        for number, name in enumerate(dict.fromkeys(dispatch["kernel_name"] for dispatch in self.dispatches)):
            for dispatch in self.dispatches:
                if dispatch["kernel_name"] == name:
                    dispatch["kernel_id"] = number

    def dispatch(self, row):
        duration = int(row["End_Timestamp"]) - int(row["Start_Timestamp"])
        properties = {name: float(row[column]) for column, name in PROPERTIES.items()} | {"dur_ns": float(duration)}
        return {
            "rank": self.rank, "process": self.rank, "gpu": 0, "dispatch_id": int(row["Dispatch_ID"]), "kernel_name": row["Kernel_Name"],
            "start_ns": int(row["Start_Timestamp"]), "duration_ns": duration, "properties": properties, "values": counted(row),
        }  # fmt: skip


def counted(row):
    """Counters of a row by name, each with its instances, which have numbers in brackets, or their sum alone.

    A name that a later pass has again ends in its number: the first pass counts. An accumulation is that of the level before it.
    """
    counters, columns, level = {}, list(row), None
    for column in columns:
        name = re.sub(r"_\d+$", "", column) if re.sub(r"_\d+$", "", column) in (columns + [ACCUMULATOR]) else column
        if name in OTHERS or row[column] == "":
            continue
        value = float(row[column])
        instance = re.fullmatch(r"(.+)\[\d+\]", name)
        if instance:
            counters.setdefault(instance[1], []).append(value)
        elif name == ACCUMULATOR:
            counters.setdefault(f"{level}_ACCUM", [value])
        else:
            counters.setdefault(name, [value])
        if "LEVEL" in name and name.startswith("SQ_"):
            level = name
    return counters


def profiles_of(source):
    """The profiles below the path of an input, in the order of their folders."""
    folders = sorted(path.parent for path in source.path.rglob("sysinfo.csv"))
    return [Profile(folder, rank) for rank, folder in enumerate(folders)]
