"""How many wavefronts of a kernel fit, by placing one workgroup after another: `kernel_resources` and `occupancy`."""

import functools
import tomllib

from common import REPOSITORY

from .case import Case
from .devices import Device, recorded_in_database
from .markers import keyed
from .metric_table import gpus_of, metric_rows
from .sums import first_of_each, grouped, ordered, percent

LIMITS = tomllib.loads((REPOSITORY / "share" / "occupancy.toml").read_text())["architecture"]
USED = ("vgpr", "accum_vgpr", "sgpr", "lds_bytes", "scratch_bytes", "workgroup_x", "workgroup_y", "workgroup_z")
FITS = ("vgpr_waves", "sgpr_waves", "lds_waves", "workgroup_waves", "waves_per_simd", "occupancy_pct", "limited_by")
FITS += ("next_waves_per_simd", "next_step")


def rounded_up(value, granule):
    return -(-value // granule) * granule


class Placement:
    """Workgroups on a compute unit whose SIMD units share one file for vector and accumulation registers."""

    def __init__(self, architecture, slots, wave_size, kernel):
        self.limits = next(one for one in LIMITS if architecture in one["names"])
        assert self.limits["registers"] == "unified"
        self.simds, self.slots = self.limits["unit"]["simds"], slots
        size = kernel["workgroup_x"] * kernel["workgroup_y"] * kernel["workgroup_z"]
        self.waves = -(-size // wave_size)
        self.registers, self.scalars, self.lds = kernel["vgpr"] + kernel["accum_vgpr"], kernel["sgpr"], kernel["lds_bytes"]
        self.allocated = rounded_up(self.registers, self.limits["vgpr_wave64"]["granule"])

    def of_registers(self, registers):
        """Wavefronts of a SIMD unit for which there are vector registers."""
        file = self.limits["vgpr_wave64"]
        return self.counted(file["file"], rounded_up(registers, file["granule"]))

    def of_scalars(self, scalars):
        return self.counted(self.limits["sgpr"]["file"], rounded_up(scalars, self.limits["sgpr"]["granule"]))

    def counted(self, there, each):
        return min(self.slots, there // each if each else self.slots)

    def of_lds(self, lds):
        """Workgroups for which there is LDS."""
        each = rounded_up(lds, self.limits["lds_granule"])
        return self.limits["unit"]["lds_bytes"] // each if each else self.of_slots()

    def of_slots(self):
        return self.simds * self.slots // self.waves

    def of_barriers(self):
        return self.limits["unit"]["barriers"] if self.waves > 1 else self.of_slots()

    def workgroups(self, registers=None, scalars=None, lds=None):
        """Workgroups that fit by each resource, in the order in which they are named as the limit."""
        of_simd = lambda waves: self.simds * waves // self.waves
        return {
            "workgroup size": self.of_slots(),
            "vgpr": of_simd(self.of_registers(self.registers if registers is None else registers)),
            "sgpr": of_simd(self.of_scalars(self.scalars if scalars is None else scalars)),
            "lds": self.of_lds(self.lds if lds is None else lds),
            "barriers": self.of_barriers(),
        }

    def per_simd(self, workgroups):
        return workgroups * self.waves / self.simds

    def next_step(self, limit, fitting):
        """Wavefronts with the least that has to be saved of what limits them, and how much that is."""
        resources = {"vgpr": "registers", "sgpr": "scalars", "lds": "lds"}
        if limit not in resources:
            return None, None
        used = getattr(self, resources[limit])
        for less in range(1, used + 1):
            fit = min(self.workgroups(**{resources[limit]: used - less}).values())
            if fit > fitting:
                return self.per_simd(fit), less
        return None, None

    def answer(self):
        """The columns of `kernel_resources` about what fits."""
        each = self.workgroups()
        fitting = min(each.values())
        most = min(each["workgroup size"], each["barriers"])
        full = self.per_simd(fitting) == self.slots
        limit = "none" if full else next(name for name, workgroups in each.items() if workgroups == fitting)
        values = (self.of_registers(self.registers), self.of_scalars(self.scalars))
        values += (self.per_simd(min(each["lds"], each["workgroup size"])), self.per_simd(most), self.per_simd(fitting))
        values += (100 * self.per_simd(fitting) / self.slots, limit, *self.next_step(limit, fitting))
        shared = {"waves_per_workgroup": self.waves, "allocated_vgpr": self.allocated, "max_waves_per_simd": self.slots}
        return shared | dict(zip(FITS, values))


def shapes_of(source):
    """Valid dispatches with what their kernel uses and the GPU they ran on."""
    for process in source.processes:
        devices = {}
        for agent in process.gpu_agents():
            devices[agent["id"]] = Device(recorded_in_database(agent, process.detail(agent)))
        for kernel in process.valid("kernels"):
            symbol = process.raw.keyed("info_kernel_symbol").get(kernel["kernel_id"]) or {}
            columns = {"vgpr": "arch_vgpr_count", "accum_vgpr": "accum_vgpr_count", "sgpr": "sgpr_count"}
            record = keyed(process, kernel) | {name: symbol.get(column) for name, column in columns.items()}
            # If no GPU is recorded, the one for which the kernel's code was loaded.
            code = process.raw.keyed("info_code_object").get(symbol.get("code_object_id")) or {}
            device = devices.get(kernel["agent_id"]) or devices.get(code.get("agent_id"))
            yield record | {"architecture": device.facts["architecture"] if device else None}, device


@functools.cache
def fitting(architecture, slots, wave_size, used):
    return Placement(architecture, slots, wave_size, dict(zip(USED, used))).answer()


def placed(record, device):
    """What fits of a kernel on a GPU, or why that is not known."""
    if device is None or record["vgpr"] is None:
        nothing = dict.fromkeys(("waves_per_workgroup", "allocated_vgpr", "max_waves_per_simd", *FITS))
        nothing["max_waves_per_simd"] = device and int(device.figures["max_waves_per_simd"][0])
        return nothing | {"unknown": "registers are not recorded" if device else "the GPU is not recorded"}
    slots, wave = (int(device.figures[name][0]) for name in ("max_waves_per_simd", "wave_size"))
    return fitting(record["architecture"], slots, wave, tuple(record[column] for column in USED)) | {"unknown": None}


def kernel_resources(source, options):
    by, records = options.by(), []
    form = {"full": "kernel_name", "short": "short_name", "base": "base_name"}[options.text("name", "full")]
    rows = [(record | {"kernel_name": record[form]}, device) for record, device in shapes_of(source)]
    for key, group in grouped(rows, lambda row: tuple(row[0][column] for column in (*by, "kernel_name", "architecture", *USED))).items():
        record = dict(zip((*by, "kernel_name", "architecture", *USED), key))
        record |= {"dispatches": len(group), "total_ns": sum(row["duration_ns"] for row, _ in group)}
        records.append(record | placed(*group[0]))
    records = ordered(records, by, "-total_ns", "kernel_name", "architecture", *USED, "waves_per_workgroup", "allocated_vgpr", "unknown")
    return first_of_each(records, by, options.whole("top", 0))


def occupancy(source, options):
    """Of folders of rocprofiler-compute, whose dispatches have their registers and workgroups with them."""
    records = []
    for gpu in gpus_of(source):
        rows = metric_rows([gpu], lambda dispatch: (dispatch["kernel_name"],), wanted=("sol.wavefront_occupancy",))
        slots, wave = (int(gpu.known.constants[name]) for name in ("waves_per_cu_max", "wave_size"))
        for row in rows:
            if not row["dispatches"]:
                continue
            fits = []
            for dispatch in gpu.dispatches:
                if dispatch["kernel_name"] == row["first"]["kernel_name"]:
                    of = {name: int(value) for name, value in dispatch["properties"].items()}
                    used = (of["arch_vgpr"], of["accum_vgpr"], of["sgpr"], of["lds_per_workgroup"], of["scratch_per_workitem"])
                    fits.append(fitting(gpu.architecture, slots // 4, wave, (*used, of["workgroup_size"], 1, 1)))
            fit = min(fits, key=lambda one: one["occupancy_pct"])
            waves = row["numerator"] / row["denominator"]
            record = {column: row["first"][column] for column in ("rank", "gpu", "kernel_name", "process", "kernel_id")}
            record |= {"dispatches": row["dispatches"], "wavefronts": waves, "slots": row["peak"], "achieved_pct": percent(waves, row["peak"])}
            record |= {"waves_per_simd": fit["waves_per_simd"], "theoretical_pct": fit["occupancy_pct"]}
            record |= {"pct_of_theoretical": percent(record["achieved_pct"], fit["occupancy_pct"]), "limited_by": fit["limited_by"]}
            records.append(record)
    records = ordered(records, (), "rank", "gpu", "achieved_pct", "process", "kernel_id", "kernel_name")
    records = [{column: value for column, value in record.items() if column not in ("process", "kernel_id")} for record in records]
    return first_of_each(records, (), options.whole("top", 0))


QUERIES = {
    "kernel_resources": Case(kernel_resources, ("two_nodes", "counters", "hostile"), ((), ("--by", "rank,gpu"), ("--name", "base", "--top", "2"), ("--by", "gpu", "--top", "1"))),
    "occupancy": Case(occupancy, ("profile", "compute"), ((), ("--top", "3"))),
}
