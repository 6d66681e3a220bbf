"""Small Perfetto traces, written as the three programs write them whose traces are read."""

import struct
import zlib


def varint(value):
    value &= (1 << 64) - 1
    content = bytearray()
    while value >= 0x80:
        content.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*content, value])


def message(*fields):
    """Fields as (number, value): integers, texts, bytes, doubles; a number above 1000 is a fixed one less 1000."""
    content = b""
    for number, value in fields:
        if isinstance(value, str):
            value = value.encode()
        if number > 1000:
            content += varint(number - 1000 << 3 | 1) + struct.pack("<Q", value)
        elif isinstance(value, float):
            content += varint(number << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, int):
            content += varint(number << 3) + varint(value)
        else:
            content += varint(number << 3 | 2) + varint(len(value)) + value
    return content


def packets(*contents):
    return b"".join(message((1, content)) for content in contents)


def annotation(name, value):
    kinds = {bool: 2, int: 4, float: 5, str: 6}
    return message((kinds[type(value)], value), (10, name))


def process(uuid, pid, name, *labels):
    return message((60, message((1, uuid), (3, message((1, pid), (6, name), *((8, label) for label in labels))))))


def track(uuid, parent, name, *more):
    return message((60, message((1, uuid), (2, name), (5, parent), *more)))


def event(kind, uuid, category=None, name=None, flows=(), /, **arguments):
    fields = [(4, annotation(key, value)) for key, value in arguments.items()]
    fields += [(9, kind), (11, uuid)]
    fields += [(22, category)] if category else []
    fields += [(23, name)] if name else []
    return message(*fields, *((1047, flow) for flow in flows))


def slices(sequence, *events):
    """Packets on the boot time, as (time, event)."""
    return [message((8, time), (10, sequence), (11, content), (58, 6)) for time, content in events]


def rocprofv3():
    """A call, a copy and a kernel, whose times are bent and whose counter is a sum."""
    kernel = {"begin_ns": 1200, "end_ns": 1300, "corr_id": 2, "agent": 4, "queue": 1, "kernel_id": 9, "SQ_WAVES": 77.0}
    copy = {"begin_ns": 1100, "end_ns": 1250, "corr_id": 1, "src_agent": 1, "dst_agent": 4, "copy_bytes": 64}
    return packets(
        message((36, b""), (10, 1)),
        process(16, 77, "a.out"),
        track(17, 16, "THREAD 1"),
        track(18, 16, "STREAM [3]"),
        *slices(
            2,
            (1000, event(1, 17, "hip_api", "hipMemcpy", [17], begin_ns=1000, end_ns=1090, tid=78, kind=5)),
            (1090, event(2, 17)),
            (1100, event(1, 18, "memory_copy", "MEMORY_COPY_HOST_TO_DEVICE", **copy)),
            (1225, event(2, 18)),
            (1225, event(1, 18, "kernel_dispatch", "k.kd", workgroup_size="8 (x=4,y=2,z=1)", grid_size="64", **kernel)),
            (1300, event(2, 18)),
        ),
    )


def systems():
    """Functions, work on a stream, a device counter, and annotations that nest."""
    nested = message((10, "args"), (11, annotation("size", 3)), (12, annotation("", "x")), (12, annotation("", True)))
    begin = message((4, nested), (9, 1), (11, 21), (22, "rocm_hip_api"), (23, "hipMalloc"), (1047, 20 ^ 5))
    return packets(
        process(20, 88, "b.out"),
        message((60, message((1, 21), (4, message((1, 88), (2, 89), (5, "main")))))),
        track(22, 20, "GPU Kernel Dispatch [0] Queue 1"),
        track(23, 20, "GPU [0] Power (S)", (8, message((4, 2), (6, "watts")))),
        *slices(
            3,
            (10, event(1, 21, "host", "main", begin_ns=10)),
            (11, begin),
            (19, event(2, 21)),
            (30, event(2, 21, end_ns=31)),
            (20, event(1, 22, "rocm_hip_stream", "k", [20 ^ 5], kernel_id=1, grid_size="(8,1,1)")),
            (25, event(2, 22)),
            (26, message((9, 4), (11, 23), (44, 1.5))),
        ),
    )


def interned():
    """Texts by number, a clock that goes on from event to event, defaults, and packets that are compressed together."""
    text = lambda iid, value: message((1, iid), (2, value))  # noqa: E731
    clocks = message((1, message((1, 6), (2, 1000))), (1, message((1, 64), (2, 0), (3, 1))))
    defaults = message((58, 64), (11, message((11, 32), (45, 33))))
    texts = message((1, text(1, "kernel_dispatch")), (2, text(1, "k<int>")), (3, text(1, "corr_id")), (29, text(1, "true")))
    begin = message((3, 1), (4, message((1, 1), (4, 7))), (9, 1), (10, 1), (46, 2.5), (1048, 99))
    inside = packets(
        message((8, 5), (10, 4), (13, 2), (12, texts), (11, begin)),
        message((8, 6), (10, 4), (13, 2), (11, message((9, 2)))),
    )
    attributes = message((126, message((1, message((1, "tool"), (3, "wavesieve"))))))
    return packets(
        attributes,
        process(31, 4100, "rank 3 \u00b7 python3", "node0", "pid 41"),
        track(30, 31, "GPU 0 \u00b7 gfx942 (agent 4)"),
        track(32, 30, "Queue 1"),
        message((10, 4), (13, 1), (59, defaults)),
        message((10, 4), (6, clocks)),
        message((50, zlib.compress(inside))),
    )


def traces():
    whole = [rocprofv3(), systems(), interned()]
    yield from whole
    # A packet that is damaged between others.
    yield whole[0][:60] + b"\xff\xff\x0a" + whole[2]
