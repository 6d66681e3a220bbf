"""The family `hardware`: figures of GPUs, and how many wavefronts of a kernel fit."""

from .case import Case
from .devices import Device, recorded_in_database
from .profiles import profiles_of
from .sums import grouped, ordered


def devices_of(source):
    """(device, what tells the physical GPU from others) of every GPU of an input."""
    for process in source.processes:
        for agent in process.gpu_agents():
            yield Device(recorded_in_database(agent, process.detail(agent))), process.devices[process.raw.gpus[agent["id"]]]
    for profile in profiles_of(source):
        yield profile.device, profile.hostname


def device_constants(source, options):
    rows = []
    for device, number in devices_of(source):
        for constant, (value, unit, origin, weak, reference) in device.figures.items():
            row = {"architecture": device.facts["architecture"], "product": device.facts["product"], "device": number, "constant": constant}
            rows.append(row | {"value": value, "unit": unit, "source": origin, "weak": "yes" if weak else "no", "reference": reference})
    labels, records = ("architecture", "product", "constant", "value", "unit", "source", "weak", "reference"), []
    for key, group in grouped(rows, list(labels)).items():
        record = dict(zip(labels, key)) | {"gpus": len({row["device"] for row in group})}
        records.append({column: record[column] for column in ("architecture", "product", "gpus", *labels[2:])})
    return ordered(records, ("architecture", "product"), "constant", "value", "source", "reference", "unit", "weak")


QUERIES = {
    "device_constants": Case(device_constants, ("two_nodes", "profile", "sampled", "two_devices")),
}
