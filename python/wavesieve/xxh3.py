"""The hash XXH3 (64 bits), by which datasets know the ends of their files; only as long as those are."""

from __future__ import annotations

import struct

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_SHORTEST = 241
_LOW, _ALL = (1 << 32) - 1, (1 << 64) - 1
_PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_START = (_PRIME32[2], *_PRIME64[:4], _PRIME32[1], _PRIME64[4], _PRIME32[0])
_STRIPE, _BLOCK = 64, 1024
_LANES = range(8)


def _words(offset: int, count: int) -> tuple[int, ...]:
    return struct.unpack_from(f"<{count}Q", _SECRET, offset)


_KEYS = [_words(8 * lane, _BLOCK // _STRIPE) for lane in _LANES]
_SCRAMBLE, _LAST, _MERGE = _words(128, 8), _words(121, 8), _words(11, 8)


def xxh3(data: bytes) -> int | None:
    """The hash of bytes, `None` of fewer than 241, for which it is another.

    >>> f"{xxh3(b'0123456789' * 30):016x}"
    '05681ea1b2e3086b'
    """
    if len(data) < _SHORTEST:
        return None
    sums = list(_START)
    whole = (len(data) - 1) // _BLOCK * _BLOCK
    for start in range(0, whole, _BLOCK):
        _add(sums, struct.unpack_from("<128Q", data, start), _KEYS)
        sums = [(total ^ total >> 47 ^ key) * _PRIME32[0] & _ALL for total, key in zip(sums, _SCRAMBLE)]
    words = (len(data) - 1 - whole) // _STRIPE * 8
    _add(sums, struct.unpack_from(f"<{words}Q", data, whole), _KEYS)
    _add(sums, struct.unpack_from("<8Q", data, len(data) - _STRIPE), [(key,) for key in _LAST])
    result = len(data) * _PRIME64[0]
    for lane in _LANES[::2]:
        product = (sums[lane] ^ _MERGE[lane]) * (sums[lane + 1] ^ _MERGE[lane + 1])
        result += product & _ALL ^ product >> 64
    result &= _ALL
    result = (result ^ result >> 37) * 0x165667919E3779F9 & _ALL
    return result ^ result >> 32


def _add(sums: list[int], words: tuple[int, ...], keys: list[tuple[int, ...]]) -> None:
    """Adds stripes of eight words."""
    for lane in _LANES:
        mixed = [word ^ key for word, key in zip(words[lane::8], keys[lane])]
        products = sum([(word & _LOW) * (word >> 32) for word in mixed])
        sums[lane] = (sums[lane] + sum(words[lane ^ 1 :: 8]) + products) & _ALL
