#!/usr/bin/env python3
"""Packs a wheel again: pack_wheel.py WHEEL

libdeflate looks longer for what repeats than zlib does: the same files take 3% less. Names, order, times and modes stay, and so
does RECORD, which has checksums of contents. The same wheel gives the same bytes.
"""
import os
import pathlib
import sys
import zipfile

import deflate

BEST = 12


class Compressor:
    """What zipfile takes for one of zlib."""

    def __init__(self):
        self.content = bytearray()

    def compress(self, part):
        self.content += part
        return b""

    def flush(self):
        return bytes(deflate.deflate_compress(bytes(self.content), BEST))


def main():
    wheel = pathlib.Path(sys.argv[1])
    unfinished = wheel.with_suffix(".unfinished")
    # zipfile has no door for compressors of others.
    zipfile._get_compressor = lambda *_: Compressor()
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(unfinished, "w") as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry))
    with zipfile.ZipFile(unfinished) as new:
        if damaged := new.testzip():
            sys.exit(f"error: {damaged} cannot be read after packing")
    os.replace(unfinished, wheel)
    print(f"{wheel.name}: {wheel.stat().st_size} bytes")


if __name__ == "__main__":
    main()
