"""Calls of interfaces: what they are for by their names, and which of them launched a kernel or copy."""

import tomllib

from common import REPOSITORY

CLASSES = tomllib.loads((REPOSITORY / "share" / "api_classes.toml").read_text())


def is_call(region):
    """Whether a record is a call of an interface; annotations, functions of the program and those of the recording tool are none."""
    if region["domain"] in CLASSES["annotations"]:
        return False
    begins = CLASSES["interfaces"].get(region["domain"])
    return not begins or region["name"].lower().startswith(tuple(begins))


def calls_of(process):
    """Valid calls of a process that have a length."""
    return [region for region in process.regions if region["valid"] and is_call(region)]


def calls_by_id(process):
    """The call of each correlation id: the innermost; one without a length only where there is no other."""
    instants = [mark for mark in process.marks if mark.get("end_ns") is not None and mark["valid"] and mark["name"] and is_call(mark)]
    chosen = {}
    for lasting, calls in ((True, calls_of(process)), (False, instants)):
        for call in calls:
            place = (lasting, call["start_ns"], -call["end_ns"], call["region_id"])
            identity = call["correlation_id"]
            if identity and (identity not in chosen or place > chosen[identity][0]):
                chosen[identity] = (place, call)
    return {identity: call for identity, (_, call) in chosen.items()}


def launched(process):
    """(kind, work, call) of every valid kernel and copy; the call is None where none is recorded."""
    calls = calls_by_id(process)
    work = [("kernel", kernel) for kernel in process.valid("kernels")] + [("copy", copy) for copy in process.valid("copies")]
    return [(kind, one, calls.get(one["correlation_id"])) for kind, one in work]


def rule_of(name):
    """The first rule for the class of a call that its name matches."""
    name = name.lower().removesuffix("_spt")
    for rule in CLASSES["rule"]:
        if not all(part in name for part in rule.get("all", [])):
            continue
        if name.startswith(tuple(rule.get("prefixes", []))) or any(part in name for part in rule.get("contains", [])):
            return rule
    return {"class": "other"}


def class_of(name):
    return rule_of(name)["class"]


def waits(name):
    """Whether a call returns only after work of the GPU is done."""
    return bool(rule_of(name).get("waits"))
