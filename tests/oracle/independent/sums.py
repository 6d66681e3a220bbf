"""Small arithmetic that families share: groups, shares, unions, medians and orders."""

import math
import statistics


def grouped(rows, key):
    """Rows by a key, which is a function or a list of column names, in the order of their first row."""
    of = key if callable(key) else lambda row: tuple(row[column] for column in key)
    groups = {}
    for row in rows:
        groups.setdefault(of(row), []).append(row)
    return groups


def ratio(part, whole):
    """One number over another, nothing where that is zero or either is not known."""
    return None if part is None or not whole else part / whole


def percent(part, whole):
    return None if part is None or not whole else 100 * part / whole


def median(values):
    values = list(values)
    return float(statistics.median(values)) if values else None


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values) if values else None


def deviation(values):
    """Sample standard deviation, nothing for fewer than two values."""
    values = list(values)
    return statistics.stdev(values) if len(values) > 1 else None


def quantile(values, share):
    """Interpolated between the two values beside the place, as numpy and most databases do."""
    values = sorted(values)
    if not values:
        return None
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def merged(intervals):
    """Disjoint intervals that cover the same time, in order."""
    joined = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return [tuple(interval) for interval in joined]


def covered(intervals):
    """Time in which at least one interval runs."""
    return sum(end - start for start, end in merged(intervals))


def cut(intervals, start, end):
    """What of the intervals lies between two moments."""
    pieces = ((max(left, start), min(right, end)) for left, right in intervals)
    return [(left, right) for left, right in pieces if left < right]


def common(first, second):
    """Intervals in which both run; each side is made disjoint."""
    return [piece for left, right in merged(first) for piece in cut(merged(second), left, right)]


def moments(intervals, first=None, last=None):
    """Every two moments between which nothing starts or ends, with the intervals (start, end, ...) that run then."""
    points = {point for interval in intervals for point in interval[:2]} | ({first, last} - {None})
    points = sorted(points)
    by_start = sorted((interval for interval in intervals if interval[0] < interval[1]), key=lambda interval: interval[:2])
    taken, running = 0, []
    for left, right in zip(points, points[1:]):
        while taken < len(by_start) and by_start[taken][0] <= left:
            running.append(by_start[taken])
            taken += 1
        running = [interval for interval in running if interval[1] >= right]
        yield left, right, running


def equal_bins(first, last, bins):
    """Start and end of equal bins in whole nanoseconds: as many as needed, the last one cut."""
    width = max(1, -(-(last - first) // bins))
    return [(left, min(left + width, last)) for left in range(first, max(last, first + 1), width)]


class Least:
    """Sorts before everything else, as null does in groupings."""

    def __lt__(self, other):
        return not isinstance(other, Least)

    def __gt__(self, other):
        return False

    def __eq__(self, other):
        return isinstance(other, Least)

    __hash__ = object.__hash__


class Greatest(Least):
    """Sorts after everything else, as null does in the other columns of an order."""

    def __lt__(self, other):
        return False

    def __gt__(self, other):
        return not isinstance(other, Greatest)

    def __eq__(self, other):
        return isinstance(other, Greatest)

    __hash__ = object.__hash__


def ordered(records, by, *columns):
    """Records by their grouping columns, null first, then by columns, null last; `-column` is descending, of numbers."""

    def place(record):
        keys = [Least() if record[column] is None else record[column] for column in by]
        for column in columns:
            value = record[column.removeprefix("-")]
            keys.append(Greatest() if value is None else -value if column.startswith("-") else value)
        return keys

    return sorted(records, key=place)


def first_of_each(records, by, top):
    """The first rows of each group of sorted records; all of them where `top` is 0."""
    if not top:
        return records
    return [record for group in grouped(records, list(by)).values() for record in group[:top]] if by else records[:top]
