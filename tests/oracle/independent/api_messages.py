"""The family `api`: calls of MPI, UCX and SHMEM with peers and sizes of their messages."""

import re

from .case import Case
from .inputs import made, rows
from .made_inputs import add_region
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
    "MPI_Reduce": {2: "count", 3: "type", 5: "root", 6: "communicator"},
    "MPI_Allgather": {1: "count", 2: "type", 4: "received", 5: "received_type", 6: "communicator"},
    "MPI_Scatter": {4: "received", 5: "received_type", 6: "root", 7: "communicator"},
    "MPI_Put": {1: "count", 2: "type", 3: "destination"},
    "MPI_Get": {1: "count", 2: "type", 3: "source"},
    "MPI_Sendrecv": {1: "count", 2: "type", 3: "destination", 4: "tag", 6: "received", 7: "received_type", 8: "source", 10: "communicator"},
}
NAMES = {"count": "count", "datatype": "type", "comm": "communicator", "tag": "tag"}
BYTES = {"MPI_FLOAT": 4, "MPI_DOUBLE": 8, "MPI_INT": 4, "MPI_BYTE": 1, "MPI_CHAR": 1}
SENDS = {"MPI_Send", "MPI_Isend", "MPI_Bcast", "MPI_Sendrecv", "MPI_Allreduce", "MPI_Reduce", "MPI_Allgather", "MPI_Put", "ucp_tag_send_nbx"}
RECEIVES = {"MPI_Recv", "MPI_Sendrecv", "MPI_Allreduce", "MPI_Allgather", "MPI_Scatter", "MPI_Get"}
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
        # The bin of copies without a size comes first, and has no bounds.
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


def call(connection, name, start, length, **places):
    """A call whose arguments are recorded by their place alone, `p1` being the first after the buffer."""
    args = [("int", f"arg{place.removeprefix('p')}-int", value) for place, value in places.items()]
    add_region(connection, "mpi", name, start, start + length, args=args)


@made("sized_messages", "two_nodes")
def send_messages(connection, number):
    """Calls of MPI with numbers of elements of 1, 4 and 8 bytes to several peers, some alike, at the bounds of bins, and empty."""
    begin = min(row["start"] for row in rows(connection, "kernel_dispatch"))
    byte, word, double = 1275068685, 1275069450, 1275070475
    for place, count in enumerate((1023, 1024, 1025, 2047, 0, 1024)):
        start = begin + 10_000 * place
        call(connection, "MPI_Send", start, 700 + place, p1=count, p2=byte, p3=(number + 1) % 4, p4=7, p5=1140850688)
        call(connection, "MPI_Isend", start + 1000, 30 + place, p1=count, p2=double, p3=place % 2, p4=place, p5=1140850688)
        call(connection, "MPI_Recv", start + 2000, 900 - place, p1=count, p2=word, p3=-1, p4=7, p5=1140850688)
        call(connection, "MPI_Reduce", start + 3000, 100 + place, p2=count, p3=double, p4=1476395011, p5=0, p6=1140850688)
        call(connection, "MPI_Allgather", start + 4000, 200 + place, p1=count, p2=word, p4=count + 1, p5=word, p6=1140850688)
        call(connection, "MPI_Scatter", start + 5000, 300 + place, p4=count, p5=double, p6=2, p7=1140850688)
        call(connection, "MPI_Put", start + 6000, 60 + place, p1=count, p2=double, p3=3)
        call(connection, "MPI_Get", start + 7000, 80 + place, p1=count, p2=byte, p3=2)


QUERIES = {
    "mpi_calls": Case(mpi_calls, ("sampled", "sized_messages"), ((), ("--by", "hostname,tid", "--top", "2"))),
    "mpi_sizes": Case(mpi_sizes, ("sampled", "sized_messages"), ((), ("--by", "tid"))),
}
