"""The family `api`: calls of MPI, UCX and SHMEM with peers and sizes of their messages."""

import re

from .case import Case
from .markers import keyed
from .sums import first_of_each, grouped, mean, ordered, ratio
from .telemetry import samples_of

DOMAINS = ("mpi", "ucx", "shmem", "openshmem", "rocshmem")
# Where the standard has the arguments of a call, for those that are recorded by their place alone.
PLACES = {
    "MPI_Send": {1: "count", 2: "type", 3: "destination", 4: "tag", 5: "communicator"},
    "MPI_Isend": {1: "count", 2: "type", 3: "destination", 4: "tag", 5: "communicator"},
    "MPI_Recv": {1: "count", 2: "type", 3: "source", 4: "tag", 5: "communicator"},
    "MPI_Bcast": {1: "count", 2: "type", 3: "root", 4: "communicator"},
    "MPI_Sendrecv": {1: "count", 2: "type", 3: "destination", 4: "tag", 6: "received", 7: "received_type", 8: "source", 10: "communicator"},
}
NAMES = {"count": "count", "datatype": "type", "comm": "communicator", "tag": "tag"}
BYTES = {"MPI_FLOAT": 4, "MPI_DOUBLE": 8, "MPI_INT": 4, "MPI_BYTE": 1, "MPI_CHAR": 1}
SENDS = {"MPI_Send", "MPI_Isend", "MPI_Bcast", "MPI_Sendrecv", "MPI_Allreduce", "ucp_tag_send_nbx"}
RECEIVES = {"MPI_Recv", "MPI_Sendrecv", "MPI_Allreduce"}
LABELS = ("domain", "name", "destination", "source", "root", "communicator")


def arguments(process, region):
    """Arguments of a call by what they are for."""
    found = {}
    for row in process.args(region["event_id"]):
        unnamed = re.fullmatch(r"arg(\d+)-.*", row["name"])
        meaning = PLACES.get(region["name"], {}).get(int(unnamed[1])) if unnamed else NAMES.get(row["name"])
        if meaning:
            found[meaning] = row["value"]
    return found


def bytes_of(datatype):
    """Size of a datatype: MPICH and its relatives have it in the third byte of its number; addresses tell nothing."""
    if datatype in BYTES:
        return BYTES[datatype]
    if datatype is None or not datatype.isdigit():
        return None
    number = int(datatype)
    return (number >> 8) & 0xFF if number >> 24 == 0x4C else None


def size_of(values, count, datatype, name):
    """Bytes of a message by its arguments; calls of UCX count bytes."""
    if count not in values:
        return None
    each = bytes_of(values.get(datatype)) if name.startswith("MPI_") else 1
    return None if each is None else int(values[count]) * each


def growth(samples, region):
    """By how much a running sum grew in a call; the first sample of all shows no growth."""
    for before, sample in zip(samples, samples[1:]):
        if region["start_ns"] <= sample["time_ns"] <= region["end_ns"]:
            return int(sample["value"] - before["value"])
    return None


def whole(text):
    return None if text is None else int(text)


def messages(source):
    """Every call with its peers and the bytes that it sends and receives, as far as these are recorded."""
    for process in source.traced():
        sums = grouped(samples_of(process), ["name"])
        for region in process.valid("regions"):
            if region["domain"] not in DOMAINS:
                continue
            name, values = region["name"], arguments(process, region)
            sent = size_of(values, "count", "type", name) if name in SENDS else None
            received = size_of(values, "received", "received_type", name) if "received" in values else None
            if name in RECEIVES and "received" not in values:
                received = size_of(values, "count", "type", name)
            if sent is None and name in SENDS:
                sent = growth(sums.get(("MPI Comm Send",), []), region)
            if received is None and name in RECEIVES:
                received = growth(sums.get(("MPI Comm Recv",), []), region)
            peers = {label: whole(values.get(label)) for label in ("destination", "source", "root")}
            call = keyed(process, region) | peers | {"communicator": values.get("communicator"), "tag": whole(values.get("tag"))}
            yield call | {"sent": sent, "received": received, "size": max((n for n in (sent, received) if n is not None), default=None)}


def known_sum(calls, column):
    values = [call[column] for call in calls if call[column] is not None]
    return sum(values) if values else None


def mpi_calls(source, options):
    by, records = options.by("rank"), []
    for key, group in grouped(messages(source), [*by, *LABELS]).items():
        times, tags = [call["duration_ns"] for call in group], {call["tag"] for call in group if call["tag"] is not None}
        record = dict(zip((*by, *LABELS), key)) | {"tag": next(iter(tags)) if len(tags) == 1 else None, "tags": len(tags)}
        record |= {"calls": len(group), "total_ns": sum(times), "mean_ns": mean(times), "max_ns": max(times)}
        record |= {"sized_calls": sum(call["size"] is not None for call in group)}
        records.append(record | {"sent_bytes": known_sum(group, "sent"), "received_bytes": known_sum(group, "received")})
    return first_of_each(ordered(records, by, "-total_ns", *LABELS), by, options.whole("top", 0))


def mpi_sizes(source, options):
    by, records = options.by("rank"), []
    for call in messages(source):
        size = call["size"]
        # Of what has no size the bin comes first, and has no bounds.
        call["bin"] = -2 if size is None else size.bit_length() - 1
        records.append(call)
    answers = []
    for key, group in grouped(records, [*by, "domain", "name", "bin"]).items():
        times, place = [call["duration_ns"] for call in group], key[-1]
        size = known_sum(group, "size")
        record = dict(zip((*by, "domain", "name"), key)) | {"bin_start_bytes": None if place == -2 else 0 if place == -1 else 2**place}
        record |= {"bin_end_bytes": None if place == -2 else 2 ** (place + 1), "calls": len(group), "total_bytes": size}
        record |= {"total_ns": sum(times), "mean_ns": mean(times), "gb_per_s": ratio(size, sum(times)), "bin": place}
        answers.append(record)
    answers = ordered(answers, by, "domain", "name", "bin")
    return [{column: value for column, value in record.items() if column != "bin"} for record in answers]


QUERIES = {
    "mpi_calls": Case(mpi_calls, ("sampled",), ((), ("--by", "hostname,tid", "--top", "2"))),
    "mpi_sizes": Case(mpi_sizes, ("sampled",), ((), ("--by", "tid"))),
}
