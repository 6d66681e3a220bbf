"""Reads folders of rocprofiler-compute: a row of `pmc_perf.csv` for each dispatch, and what `sysinfo.csv` says of the GPU."""

import csv
import re
import shutil
from pathlib import Path

from common import REPOSITORY

from .devices import Device, recorded_in_profile
from .inputs import WRITTEN

PROPERTIES = {
    "Grid_Size": "grid_size", "Workgroup_Size": "workgroup_size", "Arch_VGPR": "arch_vgpr", "Accum_VGPR": "accum_vgpr", "SGPR": "sgpr",
    "LDS_Per_Workgroup": "lds_per_workgroup", "Scratch_Per_Workitem": "scratch_per_workitem",
}  # fmt: skip
OTHERS = {"Dispatch_ID", "Kernel_Name", "GPU_ID", "Start_Timestamp", "End_Timestamp", "obj", "wave_size", *PROPERTIES}
ACCUMULATOR = "SQ_ACCUM_PREV_HIRES"


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def two_devices(folder):
    """The same profile of two GPUs with different clocks and numbers of compute units, so that their peaks differ."""
    for name, clock, units in (("fast", 2400, 256), ("slow", 1600, 192)):
        target = Path(folder) / name
        shutil.copytree(REPOSITORY / "fixtures" / "profile", target)
        info = (target / "sysinfo.csv").read_text()
        (target / "sysinfo.csv").write_text(info.replace(",30115,256,", f",30115,{units},").replace(",2400,2000,", f",{clock},2000,"))


WRITTEN["two_devices"] = two_devices


class Profile:
    """One folder: a GPU with its constants, and its dispatches with their counters."""

    def __init__(self, folder, rank):
        info = rows_of(folder / "sysinfo.csv")[0]
        self.rank, self.hostname = rank, info["hostname"]
        self.device = Device(recorded_in_profile(info))
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
    """Counters of a row by name, each as the one value that is recorded, a sum over its instances.

    A name that a later pass has again ends in its number: the first pass counts. An accumulation is that of the level before it.
    """
    counters, columns, level = {}, {*row, ACCUMULATOR}, None
    for column, text in row.items():
        name = re.sub(r"_\d+$", "", column)
        name = name if name in columns else column
        if name in OTHERS or text == "":
            continue
        counters.setdefault(f"{level}_ACCUM" if name == ACCUMULATOR else name, [float(text)])
        level = name if "LEVEL" in name and name.startswith("SQ_") else level
    return counters


def profiles_of(source):
    """The profiles below the path of an input, in the order of their folders."""
    folders = sorted(path.parent for path in source.path.rglob("sysinfo.csv"))
    return [Profile(folder, rank) for rank, folder in enumerate(folders)]
