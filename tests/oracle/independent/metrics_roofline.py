"""The query `roofline`: work and traffic of kernels, and the least time that the device needs for them."""

import math

from .case import Case
from .metric_table import gpus_of, metric_rows
from .sums import first_of_each, grouped, ordered, percent, ratio

VECTOR = ("valu_flops_f16", "valu_flops_f32", "valu_flops_f64")
MATRIX = ("mfma_flops_f16", "mfma_flops_bf16", "mfma_flops_f32", "mfma_flops_f64", "mfma_flops_f8", "mfma_flops_f6f4")
WHOLE = "mfma_iops_i8"
BYTES = {"bytes_lds": "lds", "bytes_l1": "l1", "bytes_l2": "l2", "bytes_hbm": "hbm"}
WORK = (*VECTOR, *MATRIX, WHOLE, *BYTES)
PEAKS = {
    "peak_hbm_gbps": "bytes_hbm", "peak_valu_gflops": "valu_flops_f32", "peak_mfma_gflops": "mfma_flops_f16",
    "peak_valu_f16_gflops": "valu_flops_f16", "peak_valu_f64_gflops": "valu_flops_f64", "peak_mfma_bf16_gflops": "mfma_flops_bf16",
    "peak_mfma_f32_gflops": "mfma_flops_f32", "peak_mfma_f64_gflops": "mfma_flops_f64", "peak_mfma_f8_gflops": "mfma_flops_f8",
    "peak_mfma_f6f4_gflops": "mfma_flops_f6f4",
}  # fmt: skip


def kernels_of(source, by):
    """Work, least time and peaks of every kernel of every GPU: by the key of the answer."""
    found = []
    for gpu in gpus_of(source):
        rows = metric_rows([gpu], lambda dispatch: (dispatch["kernel_name"],), panel=400)
        for group in grouped(rows, ["group"]).values():
            of = {row["metric"].removeprefix("roof."): row for row in group}
            time = of["time"]["numerator"]
            kernel = {"key": tuple(of["time"]["first"][column] for column in by), "dispatches": of["time"]["dispatches"], "time": time}
            # Dispatches that a pass lost count like the others of their kernel.
            work = {name: of[name]["numerator"] * time / of[name]["denominator"] if of[name]["denominator"] else None for name in WORK if name in of}
            peaks = {name: of[name]["peak"] for name in WORK if name in of}
            found.append(kernel | {"work": work, "peaks": peaks})
    return found


def added(kernels, names, least=False):
    """Sum of some kinds of work over kernels, or of the least times for it; nothing where one is not known.

    A kind of data that an architecture does not have is no work there.
    """
    parts = []
    for kernel in kernels:
        for name in names:
            if name not in kernel["work"]:
                continue
            work, peak = kernel["work"][name], kernel["peaks"][name]
            parts.append(None if work is None or (least and not peak) else work / peak if least else work)
    return None if None in parts else math.fsum(parts)


def bound_of(times):
    """What takes longest, the farthest memory first where several do."""
    order = ("hbm", "l2", "l1", "lds", "mfma", "valu")
    return max(order, key=lambda name: (times[name], -order.index(name)))


def roofline(source, options):
    by, records = options.by("kernel_name"), []
    for key, kernels in grouped(kernels_of(source, by), lambda kernel: kernel["key"]).items():
        record = dict(zip(by, key)) | {"dispatches": sum(kernel["dispatches"] for kernel in kernels)}
        time = math.fsum(kernel["time"] for kernel in kernels)
        known = {name: added(kernels, [name]) if any(name in kernel["work"] for kernel in kernels) else None for name in WORK}
        flops = added(kernels, (*VECTOR, *MATRIX))
        record |= {"time_ns": time} | {name: known[name] for name in (*VECTOR, *MATRIX, WHOLE)} | {"flops": flops}
        record |= {name: known[name] for name in BYTES}
        record |= {f"intensity_{level}": ratio(flops, known[f"bytes_{level}"]) for level in ("l1", "l2", "hbm")}
        record |= {"gflops": ratio(flops, time), "hbm_gbps": ratio(known["bytes_hbm"], time)}
        record |= {peak: max((k["peaks"].get(name) or 0 for k in kernels), default=0) or None for peak, name in PEAKS.items()}
        times = {"valu": added(kernels, VECTOR, True), "mfma": added(kernels, (*MATRIX, WHOLE), True)}
        times |= {level: added(kernels, [name], True) for name, level in BYTES.items()}
        roof = None if None in times.values() else max(times.values()) or None
        record |= {"roof_ns": roof, "bound": bound_of(times) if roof else None, "roof_gflops": ratio(flops, roof)}
        records.append(record | {"pct_of_roof": percent(roof, time)})
    records = ordered(records, (), "-time_ns", *by, "dispatches")
    return first_of_each(records, (), options.whole("top", 0))


QUERIES = {"roofline": Case(roofline, ("profile", "compute"), ((), ("--by", "rank,gpu"), ("--top", "3")))}
