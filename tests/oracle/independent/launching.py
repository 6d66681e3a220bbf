"""Which call launched what, by `derived_check`'s own reading of the source rows, and queues and depths that follow from it."""

from derived_check import Source

SOURCES = {}


def source_of(process):
    """The calls, kernels and copies of a process as `derived_check` reads them, read once."""
    if process.raw not in SOURCES:
        SOURCES[process.raw] = Source(process.raw)
    return SOURCES[process.raw]


def launching_calls(process):
    """The call of each correlation id, with `name`, `tid`, `start_ns` and `end_ns`."""
    calls = source_of(process).by_id
    return {identity: call | {"start_ns": call["start"], "end_ns": call["end"]} for identity, call in calls.items()}
