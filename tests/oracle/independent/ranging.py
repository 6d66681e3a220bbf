"""ROCTx ranges with their nesting, and the work that was launched in them."""

from .calls import launched
from .sums import covered

DEEPEST = 128


def nested(spans):
    """Spans of one thread as a tree: sets `parent`, `depth` and `children`, found by asking every span that began before."""
    spans = sorted(spans, key=lambda span: (span["start_ns"], -span["end_ns"], span["range_id"]))
    for place, span in enumerate(spans):
        around = [other for other in spans[:place] if other["start_ns"] <= span["start_ns"] and other["end_ns"] >= span["end_ns"]]
        span["parent"] = min(reversed(around), key=lambda other: other["end_ns"] - other["start_ns"], default=None)
        span["depth"] = len(around)
        span["children"] = []
        if span["parent"]:
            span["parent"]["children"].append(span)
    return spans


def path_of(span, name="message"):
    """Names from the outermost span to this one; signs that part them are marked."""
    parts = []
    while span:
        parts.append(span[name].replace("\\", "\\\\").replace("/", "\\/"))
        span = span["parent"]
    return "/".join(reversed(parts))


def is_range(region):
    """Whether a marker is a range; pauses, names and ends of ranges are calls of the profiler."""
    others = ("Pause", "Resume", "Name", "Pop", "Stop")
    return region["domain"] == "marker" and not any(word in region["name"] for word in others)


def kind_of(region):
    return "process" if "ProcessRange" in region["name"] or "RangeStart" in region["name"] else "thread"


def ranges_of(process):
    """Ranges of a process in order of start, each with the work launched in it, and that of no range in it."""
    found = []
    for region in process.regions:
        if region["valid"] and is_range(region):
            text = region["name"] if region["message"] is None else region["message"]
            found.append(region | {"range_id": region["region_id"], "message": text, "kind": kind_of(region)})
    threads = {}
    for span in found:
        if span["kind"] == "thread":
            threads.setdefault(span["tid"], []).append(span)
        else:
            span |= {"parent": None, "depth": 0, "children": []}
    for spans in threads.values():
        nested(spans)
    number(found)
    give_work(process, found)
    return found


def number(spans):
    """Paths, and the place of every range among those of its path on its thread."""
    spans.sort(key=lambda span: (span["start_ns"], -span["end_ns"], span["range_id"]))
    counted = {}
    for span in spans:
        span["path"] = path_of(span)
        key = (span["kind"], span["tid"], span["path"])
        span["iteration"] = counted.get(key, 0)
        counted[key] = span["iteration"] + 1
        span["work"], span["own"] = [], []


def is_open(span, moment):
    return span["start_ns"] <= moment < span["end_ns"]


def give_work(process, spans):
    """Work belongs to all ranges of its launching thread that are open when the call starts, and to those of the process."""
    process.range_work = []
    for kind, work, call in launched(process):
        innermost = None
        for span in spans if call else ():
            if is_open(span, call["start_ns"]) and span["kind"] == "process":
                span["work"].append((kind, work))
            elif is_open(span, call["start_ns"]) and span["tid"] == call["tid"]:
                span["work"].append((kind, work))
                # If ranges overlap in part, the one that ends first counts as inner.
                if innermost is None or (-span["end_ns"], span["depth"]) > (-innermost["end_ns"], innermost["depth"]):
                    innermost = span
        if innermost:
            innermost["own"].append((kind, work))
        launch = "unknown" if call is None else "range" if innermost else "outside"
        process.range_work.append({"kind": kind, "work": work, "range": innermost, "launch": launch})


def time_of(work, *kinds):
    """Sum of the durations of the work of these kinds, overlaps counted again."""
    return sum(one["duration_ns"] for kind, one in work if not kinds or kind in kinds)


def count_of(work, kind):
    return sum(1 for one, _ in work if one == kind)


def projected(work):
    """First start and last end of some work."""
    return min(one["start_ns"] for _, one in work), max(one["end_ns"] for _, one in work)


def self_time(span):
    """The time of a range that none of the ranges in it covers."""
    return span["duration_ns"] - covered((child["start_ns"], child["end_ns"]) for child in span["children"])


def all_ranges(source):
    """(process, range) over all traced processes, in the order of processes, then of starts; worked out once for a source."""
    if not hasattr(source, "ranges"):
        source.ranges = [(process, span) for process in source.traced() for span in ranges_of(process)]
    return source.ranges
