"""Inputs made of fixtures for what no fixture has: shared GPUs, paused recording, messages, sizes of collectives."""

import json

from .inputs import columns, insert, made, rows, table, text

SHARED, SIZED, MESSAGES, GRAPHS, DRAINED = "shared_gpus", "sized_collectives", "messages", "graphs", "drained"


def update(connection, base, column, value, row):
    connection.execute(f'UPDATE "{table(connection, base)}" SET "{column}" = ? WHERE id = ?', (value, row))


def add_region(connection, category, name, start, end, tid=None, args=()):
    """A call of its own, with its event and arguments; gives the id of the event."""
    stack = 1 + max(row["stack_id"] for row in rows(connection, "event"))
    event = insert(connection, "event", category_id=text(connection, category), stack_id=stack, parent_stack_id=0, correlation_id=0)
    thread = tid or rows(connection, "info_thread")[0]["id"]
    insert(connection, "region", tid=thread, start=start, end=end, name_id=text(connection, name), event_id=event)
    for position, (kind, label, value) in enumerate(args):
        insert(connection, "arg", event_id=event, position=position, type=kind, name=label, value=str(value))
    return event


def span(connection):
    work = rows(connection, "kernel_dispatch")
    return min(row["start"] for row in work), max(row["end"] for row in work)


@made(SHARED, "two_nodes")
def use_the_same_gpus(connection, number):
    """The second process of the first node runs on the GPUs of the first one."""
    if number == 1:
        for base in ("kernel_dispatch", "memory_copy", "memory_allocate"):
            for column in {"agent_id", "src_agent_id", "dst_agent_id"} & set(columns(connection, base)):
                connection.execute(f'UPDATE "{table(connection, base)}" SET {column} = {column} - 2 WHERE {column} > 2')


@made(SHARED, "two_nodes")
def pause_the_recording(connection, number):
    """The recording of the first and third process stops for a while, of the third also to the end."""
    if number in (0, 2):
        first, last = span(connection)
        at = lambda share: first + int((last - first) * share)
        for name, begin, end in (("Pause", 0.31, 0.311), ("Resume", 0.45, 0.46)):
            add_region(connection, "MARKER_CONTROL_API", f"roctxProfiler{name}", at(begin), at(end))
        if number == 2:
            add_region(connection, "MARKER_CONTROL_API", "roctxProfilerPause", at(0.96), at(0.961))


# The calls of a GPU in turn: function, number of elements under its name, type.
CALLS = (("ncclAllReduce", "count", 4096, 9), ("ncclAllGather", "sendcount", 1000, 7), ("ncclAllReduce", "count", 4096, 9))


@made(SIZED, "two_nodes")
def give_sizes(connection, number):
    """The calls of RCCL of the two GPUs of a process take turns."""
    calls = [row for row in rows(connection, "region") if row["name_id"] == text(connection, "ncclAllReduce")]
    for place, row in enumerate(sorted(calls, key=lambda row: row["start"])):
        name, count, elements, kind = CALLS[place // 2 % len(CALLS)]
        update(connection, "region", "name_id", text(connection, name), row["id"])
        args = (("size_t", count, elements), ("ncclDataType_t", "datatype", kind), ("ncclComm_t", "comm", "0x5581c0de0000"))
        for position, (sort, label, value) in enumerate(args):
            insert(connection, "arg", event_id=row["event_id"], position=position, type=sort, name=label, value=str(value))


@made(MESSAGES, "two_nodes")
def pass_messages(connection, number):
    """Calls of MPI on two threads of three processes, some at the same time as others, before, during and after the work."""
    if number == 3:
        return
    first, last = span(connection)
    step = (last - first) // 16
    threads = [row["id"] for row in rows(connection, "info_thread")]
    for place in range(12):
        start = first - 2 * step + place * step + 17 * number
        name = ("MPI_Allreduce", "MPI_Send", "MPI_Recv")[place % 3]
        add_region(connection, "MPI_API", name, start, start + step // (1 + place % 4) + place, threads[place % 2])
    add_region(connection, "UCX_API", "ucp_worker_progress", last + step, last + 2 * step, threads[0])


@made("uneven_kernels", "planted")
def make_kernels_uneven(connection, number):
    """Kernels take longer towards the end of the first process, have two durations in the second, and rare outliers in the third."""
    kernels = sorted(rows(connection, "kernel_dispatch"), key=lambda row: row["start"])
    for place, row in enumerate(kernels):
        length = row["end"] - row["start"]
        if number == 0:
            length += length * place // len(kernels)
        elif number == 1 and row["kernel_id"] % 2 == 0:
            length = length * 2 if place // 10 % 3 == 0 else length
        elif number == 2 and place % 29 == 7:
            length *= 3 + place % 2
        update(connection, "kernel_dispatch", "end", row["start"] + length, row["id"])


@made(GRAPHS, "two_nodes")
def record_graphs(connection, number):
    """Graph executions and nodes are recorded for two processes, and one has unnamed tasks; captures have as many launches, or others."""
    stacks = {row["id"]: row["stack_id"] for row in rows(connection, "event")}
    name = text(connection, "hipGraphLaunch")
    launched = sorted((row for row in rows(connection, "region") if row["name_id"] == name), key=lambda row: row["start"])
    launches = [stacks[row["event_id"]] for row in launched]
    if number < 2:
        for base in ("kernel_dispatch", "memory_copy"):
            for column in ("graph_exec_id", "graph_node_id")[: 2 if base == "kernel_dispatch" else 1]:
                connection.execute(f'ALTER TABLE "{table(connection, base)}" ADD COLUMN {column} INTEGER')
    replayed = {}
    for row in rows(connection, "kernel_dispatch"):
        if stacks.get(row["event_id"]) in launches:
            replayed.setdefault(stacks[row["event_id"]], []).append(row)
    for place, stack in enumerate(launches):
        for node, row in enumerate(sorted(replayed.get(stack, []), key=lambda row: row["start"])):
            if number < 2:
                update(connection, "kernel_dispatch", "graph_exec_id", 7 + place % 2, row["id"])
            if number == 0:
                update(connection, "kernel_dispatch", "graph_node_id", 100 + node, row["id"])
    symbols = [row["display_name"] for row in rows(connection, "info_kernel_symbol")]
    at = span(connection)[0] - 1_000_000
    for capture in range(3 if number != 3 else 0):
        add_region(connection, "HIP_RUNTIME_API", "hipStreamBeginCapture", at, at + 10)
        for launch in range(1 + capture % 2):
            kernel = symbols[0] if launch == 0 else symbols[capture]
            start, args = at + 100 + 20 * launch, (("string", "kernel", kernel),)
            add_region(connection, "HIP_RUNTIME_API", "hipLaunchKernel", start, start + 10, args=args)
        add_region(connection, "HIP_RUNTIME_API", "hipStreamEndCapture", at + 900, at + 910)
        at += 1_000


@made("powered", "planted")
def sample_the_gpus(connection, number):
    """Clock, power and temperature of the GPU of each process, now and then; the clock starts late, and the power falls silent."""
    gpu = rows(connection, "kernel_dispatch")[0]["agent_id"]
    first, last = span(connection)
    for place, (name, unit) in enumerate((("GFX Clock", "MHz"), ("Power", "W"), ("Temperature", "C"))):
        counter = insert(connection, "info_pmc", agent_id=gpu, name=name, symbol=name, units=unit)
        track = insert(connection, "track", name_id=text(connection, f"{name} [{number}]"))
        for step in range(40):
            time = first - 1000 + (last - first) * (step + (3 if place == 0 else 0)) // 41 + 13 * place
            event = insert(connection, "event", category_id=text(connection, "amd_smi"))
            value = (2100 - 37 * (step % 7), 300 + 11 * (step % 5) + number, 60 + step % 9)[place]
            insert(connection, "sample", track_id=track, timestamp=time, event_id=event)
            insert(connection, "pmc_event", event_id=event, pmc_id=counter, value=value)


def name_products(connection, by_ranges, by_marks):
    """Half of the ranges of layers become calls of hipBLASLt of several sizes, and the marks calls of rocBLAS."""
    events = {row["id"]: row for row in rows(connection, "event")}
    layers = [row for row in rows(connection, "region") if "layer" in (events[row["event_id"]]["extdata"] or "")]
    operands = "--a_type {0} --b_type {0} --c_type {0} --d_type {0} --compute_type f32_r"
    for place, row in enumerate(sorted(layers, key=lambda row: row["start"])[::2] if by_ranges else ()):
        size, kind = 512 + 64 * (place % 3), ("f16_r", "bf16_r")[place % 4 == 3]
        sizes = f"-m {size} -n {size} -k 256 --transA T --transB N --batch_count {1 + place % 2}"
        line = f"hipblaslt-bench --api_method c {sizes} {operands.format(kind)}"
        update(connection, "event", "extdata", json.dumps({"message": line}), row["event_id"])
    for place, row in enumerate(rows(connection, "sample") if by_marks else ()):
        line = f"./rocblas-bench -f gemm_ex --transposeA N --transposeB N -m 64 -n {64 * (1 + place)} -k 64 {operands.format('f32_r')}"
        update(connection, "event", "extdata", json.dumps({"message": line}), row["event_id"])


@made(DRAINED, "two_nodes")
def wait_for_devices(connection, number):
    """Threads wait for all work of a device where they waited for a stream."""
    if number % 2 == 0:
        stream = text(connection, "hipStreamSynchronize")
        connection.execute(f'UPDATE "{table(connection, "string")}" SET string = ? WHERE id = ?', ("hipDeviceSynchronize", stream))


@made("products", "two_nodes")
def name_products_once(connection, number):
    """Of half of the processes products are named in ranges, of the others in marks."""
    name_products(connection, number % 2 == 0, number % 2 == 1)


@made("products_twice", "two_nodes")
def name_products_twice(connection, _):
    """Products are named in ranges, and by marks before them."""
    name_products(connection, True, True)


STEPS = "steps"


@made(STEPS, "planted")
def leave_steps_alone(connection, number):
    """Without the kernels before the steps. The second process starts and ends with slow steps, and the third stands still once."""
    kernels = sorted(rows(connection, "kernel_dispatch"), key=lambda row: row["start"])
    for row in kernels[:23]:
        connection.execute(f'DELETE FROM "{table(connection, "kernel_dispatch")}" WHERE id = ?', (row["id"],))
    later = 0
    for place, row in enumerate(kernels[23:]):
        start, end = row["start"] + later, row["end"] + later
        if number == 1 and place // 10 in (0, 1, 11) and place % 10 == 0:
            later += 400_000
            end += 400_000
        if number == 2 and place == 59:
            later += 9_000_000
        update(connection, "kernel_dispatch", "start", start, row["id"])
        update(connection, "kernel_dispatch", "end", end, row["id"])


LAYERED = "layered"


@made(LAYERED, "planted")
def leave_layers_alone(connection, number):
    """The same, where the first and the seventh range are around six steps each and the others are no steps: these are layers then."""
    leave_steps_alone(connection, number)
    ranges = sorted((row for row in rows(connection, "region") if text(connection, "roctxThreadRangeA") == row["name_id"]), key=lambda row: row["start"])
    for place, row in enumerate(ranges):
        message = "layer" if place % 6 else f"iteration {place // 6}"
        update(connection, "event", "extdata", json.dumps({"message": message}), row["event_id"])
        if place % 6 == 0:
            update(connection, "region", "end", ranges[place + 5]["end"], row["id"])


@made("late_calls", "planted")
def return_just_before_the_queue_drains(connection, number):
    """Now and then a call returns while the kernel before still runs, and its own short kernel starts soon, or not so soon, after that."""
    events = {row["id"]: row for row in rows(connection, "event")}
    calls = {events[row["event_id"]]["stack_id"]: row for row in rows(connection, "region")}
    last = {}
    for place, row in enumerate(sorted(rows(connection, "kernel_dispatch"), key=lambda row: row["start"])):
        before = last.get(row["queue_id"])
        call = calls.get(events[row["event_id"]]["stack_id"])
        if before and call and place % 5 == 3:
            wait = 2_000 if place % 2 else 4_000_000
            update(connection, "region", "start", before["end"] - 5_000, call["id"])
            update(connection, "region", "end", before["end"] - 1_000, call["id"])
            row = row | {"start": before["end"] + wait, "end": before["end"] + wait + 1_000}
            update(connection, "kernel_dispatch", "start", row["start"], row["id"])
            update(connection, "kernel_dispatch", "end", row["end"], row["id"])
        last[row["queue_id"]] = row
