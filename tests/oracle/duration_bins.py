"""The bins of kernel_duration_histogram, from the edges instead of logarithms."""

import math


def octave_parts(duration):
    """The 32nd part of an octave that a duration lies in."""
    part = max(32 * (duration.bit_length() - 1) - 1, 0)
    while math.ceil(2 ** ((part + 1) / 32) - 0.5) <= duration:
        part += 1
    return part


def histogram_width(times):
    """Parts of an octave in a bin, by the rule of Freedman and Diaconis."""
    times = sorted(time for time in times if time)
    if not times or times[0] < 64 or times[-1] >= 2**32:
        return 32
    first, lower, upper, last = (
        octave_parts(times[place]) for place in (0, -(-len(times) // 4) - 1, -(-3 * len(times) // 4) - 1, -1)
    )
    span, middle = last - first, upper - lower
    for width in (32, 16, 8, 4, 2):
        if 32 * width < span or (4 * width <= span and width**3 * len(times) <= 8 * middle**3):
            return width
    return 1


def duration_bins(times, width):
    """The bins from the shortest to the longest duration, with their bounds; zero has its own."""
    bins = [(0, 1)] if 0 in times else []
    parts = [octave_parts(time) // width for time in times if time]
    edge = lambda bin: math.ceil(2 ** (bin * width / 32) - 0.5)  # noqa: E731
    return bins + [(edge(bin), edge(bin + 1)) for bin in (range(min(parts), max(parts) + 1) if parts else ())]
