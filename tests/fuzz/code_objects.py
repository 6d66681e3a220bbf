"""Code objects and what contains them, for seeds and benchmarks."""

import struct
import zlib

GPU, HOST = 224, 62
BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"


def packed(value):
    """MessagePack of a value."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        if value < 128:
            return bytes([value])
        return b"\xcd" + struct.pack(">H", value) if value < 1 << 16 else b"\xce" + struct.pack(">I", value)
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xA0 | len(text)]) if len(text) < 32 else b"\xd9" + bytes([len(text)])) + text
    if isinstance(value, list):
        head = bytes([0x90 | len(value)]) if len(value) < 16 else b"\xdd" + struct.pack(">I", len(value))
        return head + b"".join(map(packed, value))
    pairs = b"".join(packed(part) for pair in value.items() for part in pair)
    return (bytes([0x80 | len(value)]) if len(value) < 16 else b"\xde" + struct.pack(">H", len(value))) + pairs


def kernel(name, arguments, **more):
    return {
        ".name": name, ".symbol": name + ".kd", ".args": arguments, ".kernarg_segment_size": 8 * len(arguments),
        ".kernarg_segment_align": 8, ".vgpr_count": 24, ".sgpr_count": 16, ".group_segment_fixed_size": 0,
        ".private_segment_fixed_size": 0, ".wavefront_size": 64, ".max_flat_workgroup_size": 256,
    } | {"." + key: value for key, value in more.items()}


def metadata():
    pointer = {".offset": 0, ".size": 8, ".value_kind": "global_buffer", ".address_space": "global", ".name": "a"}
    number = {".offset": 8, ".size": 4, ".value_kind": "by_value"}
    hidden = {".offset": 16, ".size": 4, ".value_kind": "hidden_block_count_x"}
    return {
        "amdhsa.kernels": [
            kernel("_ZN2ns1kIfEEvPT_i", [pointer, number, hidden], agpr_count=4, uses_dynamic_stack=False),
            kernel("k", [], reqd_workgroup_size=[8, 8, 1], vgpr_spill_count=3, sgpr_spill_count=0),
        ],
        "amdhsa.target": "amdgcn-amd-amdhsa--gfx942:xnack-",
        "amdhsa.version": [1, 2],
    }


def note(content, name=b"AMDGPU\0", kind=32):
    padded = name + bytes(-len(name) % 4)
    return struct.pack("<III", len(name), len(content), kind) + padded + content + bytes(-len(content) % 4)


def elf(machine, sections, segments=True):
    """An ELF file of sections (name, type, content); notes get segments."""
    names = b"\0" + b"".join(name + b"\0" for name, _, _ in sections) + b".shstrtab\0"
    sections = [*sections, (b".shstrtab", 3, names)]
    headers = sum(kind == 7 for _, kind, _ in sections) if segments else 0
    body, table, programs, at = b"", bytes(64), b"", 64 + 56 * headers
    for name, kind, content in sections:
        content += bytes(-len(content) % 8)
        place = names.index(b"\0" + name + b"\0") + 1
        table += struct.pack("<IIQQQQIIQQ", place, kind, 2, 0, at, len(content), 0, 0, 4, 0)
        if headers and kind == 7:
            programs += struct.pack("<IIQQQQQQ", 4, 4, at, at, at, len(content), len(content), 4)
        body, at = body + content, at + len(content)
    start = b"\x7fELF\2\1\1\x40\3" + bytes(7)
    return start + struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 64 if headers else 0, at, 0x4C, 64, 56, headers, 64, len(sections) + 1,
        len(sections),
    ) + programs + body + table


def bundle(entries):
    at = len(BUNDLE) + 8 + sum(24 + len(name) for name, _ in entries)
    head = BUNDLE + struct.pack("<Q", len(entries))
    for name, code in entries:
        head += struct.pack("<QQQ", at, len(code), len(name)) + name
        at += len(code)
    return head + b"".join(code for _, code in entries)


def compressed(version, content):
    small = zlib.compress(content, 9)
    sizes = {
        1: struct.pack("<I", len(content)),
        2: struct.pack("<II", 24 + len(small), len(content)),
        3: struct.pack("<QQ", 32 + len(small), len(content)),
    }[version]
    return b"CCOB" + struct.pack("<HH", version, 0) + sizes + bytes(8) + small


def code_objects():
    content = packed(metadata())
    code = elf(GPU, [(b".note", 7, note(content))])
    both = bundle([(b"host-x86_64-unknown-linux--", b""), (b"hipv4-amdgcn-amd-amdhsa--gfx942:xnack-", code)])
    yield code
    yield elf(GPU, [(b".note", 7, note(b"other", b"GNU\0", 3) + note(content))], segments=False)
    yield elf(GPU, [(b".note", 7, note(b"---\n", b"AMD\0", 10))])
    yield both
    for version in [1, 2, 3]:
        yield compressed(version, both)
    yield elf(HOST, [(b".hip_fatbin", 1, both + bytes(24) + compressed(2, both) + bytes(8))])
