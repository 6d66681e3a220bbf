#!/usr/bin/env python3
"""Makes pictures of the time line and pages that show them: pictures.py FOLDER

The pictures are drawn from a seed. Next to each page, NAME.json is its picture, which the tests compare with pixels.
"""

import base64
import hashlib
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
KINDS = ["gemm", "attention", "elementwise", "normalization", "reduction", "communication", "copy", "compute", "exposed_communication",
         "exposed_copy", "idle:host_bound", "idle:sync", "idle:launch_delay", "idle:no_record", "missing", "api", "sync", "range", "operator"]
LABELS = {"gemm": "Matrix products", "attention": "Attention", "elementwise": "Elementwise", "normalization": "Normalization", "reduction": "Reductions",
          "communication": "Communication", "copy": "Copies", "compute": "Compute", "exposed_communication": "Exposed communication",
          "exposed_copy": "Exposed copies", "idle:host_bound": "Idle: host-bound", "idle:sync": "Idle: host sync", "idle:launch_delay": "Idle: launch latency",
          "idle:no_record": "Idle: no API calls recorded", "missing": "Not recorded", "api": "API calls", "sync": "Synchronization", "range": "Ranges", "operator": "Operators"}
KERNELS = [("Cijk BBS MT256x224x64", "gemm", 180_000), ("Cijk BBS MT128x128x32", "gemm", 90_000), ("flash_attn_fwd<bf16, 128>", "attention", 220_000),
           ("vectorized_add<bf16>", "elementwise", 18_000), ("silu_and_mul<bf16>", "elementwise", 25_000), ("rms_norm<bf16>", "normalization", 21_000),
           ("reduce_sum<float>", "reduction", 12_000), ("ncclDevKernel_AllReduce_Sum", "communication", 140_000)]
HOSTILE = ["</script><script>window.harmed = 1</script>", '<img src=x onerror="window.harmed = 1">', "'; rm -rf / #", "a\u202eb\u2028c\u200b\u0000\u001b[31m",
           "k" * 10_000, "größe<矩阵>", "{{ 7 * 7 }} ${7*7}", "<!-- &lt;b&gt; -->", "__proto__", "constructor"]
KIND = {kind: place for place, kind in enumerate(KINDS)}


class Names:
    def __init__(self):
        self.places = {}

    def __call__(self, name):
        return self.places.setdefault(name, len(self.places))

    def all(self):
        return list(self.places)


def lane(id, group, kind, label, slices, start, levels=1, resolution=0):
    """Columns of slices (start, length, name, kind, level, id, count, busy, mark, about) in the order of start, level, id."""
    rows = sorted(slices, key=lambda one: (one[0], one[4], one[5]))
    columns, last = {"start_ns": [], "length_ns": [], "name": [], "kind": [], "level": [], "id": [], "count": [], "busy_ns": [], "mark": [], "about": []}, start
    for at, length, *rest in rows:
        columns["start_ns"].append(at - last)
        last = at
        for name, value in zip(list(columns)[1:], [length, *rest]):
            columns[name].append(value)
    for name, usual in (("level", 0), ("count", 1), ("mark", 0), ("about", -1)):
        if all(value == usual for value in columns[name]):
            del columns[name]
    if columns["busy_ns"] == columns["length_ns"]:
        del columns["busy_ns"]
    return {"id": id, "group": group, "kind": kind, "label": label, "levels": levels, "resolution_ns": resolution, "slices": columns}


def window(random, names, id, label, reason, rank, start, end, kernels=400, slow=1.0, kernel_names=KERNELS):
    """One iteration of a rank: two streams, copies, gaps, calls with ranges, and launches."""
    gpu, host = f"r{rank}g0", f"r{rank}"
    main, side, calls, gaps, flows, copies, operators = [], [], [], [], [], [], []
    at, call, ident = start - 3_000, start - 60_000, rank * 1_000_000
    layer = 0
    step = (end - start) / kernels
    last_range = start
    for place in range(kernels):
        name, kind, usual = kernel_names[place % len(kernel_names)]
        length = max(0, int(usual * slow * random.uniform(0.85, 1.2) * step / 96_000))
        call_length = int(step * 0.12)
        stream = side if kind == "communication" else main
        about = names(f"layer {layer}")
        gap = int(step * random.choice([0.02, 0.02, 0.05, 0.25]))
        calls.append((call, call_length, names("hipLaunchKernel"), KIND["api"], 0, ident + place, 1, call_length, 0, -1))
        if kind == "communication":
            stream.append((at, length, names(name), KIND[kind], 0, ident + place, 1, length, 0, about))
            flows.append((ident + place, "c", ident + place))
            layer += 1
            operators.append((last_range, max(1, call - last_range), names(f"layer {layer}"), KIND["range"], 0, layer, 1, max(1, call - last_range), 0, -1))
            operators.append((last_range + 10, max(1, (call - last_range) // 2), names("aten::linear"), KIND["operator"], 1, 5000 + layer, 1, max(1, (call - last_range) // 2), 0, -1))
            last_range = call + 1
        else:
            main.append((at, length, names(name), KIND[kind], 0, ident + place, 1, length, 0, about))
            flows.append((ident + place, "m", ident + place))
            cause = random.choice(["host_bound", "launch_delay", "sync"])
            gaps.append((at + length, gap, names(f"idle: {cause}"), KIND[f"idle:{cause}"], 0, place, 1, gap, 0, names(cause)))
            at += length + gap
        if place % 50 == 25:
            copies.append((at, int(step * 3), names("H2D 4 MiB"), KIND["copy"], 0, place, 1, int(step * 3), 0, -1))
        call += int(step * 0.9)
    lanes = [lane(f"{gpu}/gaps", gpu, "gaps", "idle by cause", gaps, start), lane(f"{gpu}/stream/1", gpu, "kernels", "stream 1", main, start),
             lane(f"{gpu}/stream/2", gpu, "kernels", "stream 2", spread(side), start), lane(f"{gpu}/copies", gpu, "copies", "copies", spread(copies), start),
             lane(f"{host}/ranges", host, "ranges", "thread 4101 ranges", operators, start, levels=2), lane(f"{host}/calls/4101", host, "calls", "thread 4101", calls, start)]
    place_of = {"m": {ident: at for at, ident in enumerate(lanes[1]["slices"]["id"])}, "c": {ident: at for at, ident in enumerate(lanes[2]["slices"]["id"])}}
    call_of = {ident: at for at, ident in enumerate(lanes[5]["slices"]["id"])}
    path, last = {"start_ns": [], "length_ns": [], "lane": []}, start
    for at, (begin, length, *_) in enumerate(main):
        if at % 3 == 0 and length:
            path["start_ns"].append(begin - last)
            path["length_ns"].append(length)
            path["lane"].append(1)
            last = begin
    return {"id": id, "label": label, "reason": reason, "group": gpu, "start_ns": start, "end_ns": end, "lanes": lanes,
            "flows": [[5, call_of[ident], 1 if which == "m" else 2, place_of[which][target]] for ident, which, target in flows], "path": path}


def spread(slices):
    """The same slices without overlaps."""
    out, last = [], None
    for at, length, *rest in sorted(slices):
        at = at if last is None else max(at, last)
        out.append((at, length, *rest))
        last = at + length
    return out


def packed(values):
    """Shares as runs of up to 129 equal bytes, and single bytes between them."""
    out, at = bytearray(), 0
    while at < len(values):
        run = next((length for length in range(1, min(129, len(values) - at)) if values[at + length] != values[at]), min(129, len(values) - at))
        out += bytes([run + 126, values[at]] if run > 1 else [0, values[at]])
        at += run
    return "~" + base64.b64encode(bytes(out)).decode()


def overview(random, groups, bins, span, steps):
    lanes = []
    for group in groups:
        shares = {kind: bytearray(bins) for kind in ("compute", "exposed_communication", "exposed_copy", "idle:host_bound", "idle:sync", "missing")}
        for place in range(bins):
            if 0.62 < place / bins < 0.66 and group["rank"] % 3 == 0:
                shares["missing"][place] = 255
                continue
            left = 255
            busy = 0.72 + 0.2 * ((place * 7 // bins) % 2) - 0.06 * random.random() - (0.25 if group["rank"] == 3 else 0)
            for kind, share in (("compute", busy), ("exposed_communication", 0.5), ("exposed_copy", 0.2), ("idle:host_bound", 0.6)):
                part = min(left, int(share * (255 if kind == "compute" else left)))
                shares[kind][place] = part
                left -= part
            shares["idle:sync"][place] = left
        # Every other lane is packed.
        text = packed if group["rank"] % 2 else (lambda values: base64.b64encode(bytes(values)).decode())
        lanes.append({"group": group["id"], "label": group["label"], "count": 1, "shares": {str(KIND[kind]): text(values) for kind, values in shares.items() if any(values)}})
    return {"bins": bins, "lanes": lanes, "ticks": [span * step // steps for step in range(steps)], "unit": "step",
            "marks": [{"kind": "warmup", "label": "warmup", "start_ns": 0, "end_ns": span // 12}, {"kind": "prefill", "label": "prefill", "start_ns": span // 12, "end_ns": span // 3},
                      {"kind": "decode", "label": "decode", "start_ns": span // 3, "end_ns": span}, {"kind": "change_point", "label": "slower by 8%", "start_ns": span * 4 // 5, "end_ns": span * 4 // 5},
                      {"kind": "missing", "label": "not recorded", "start_ns": span * 9 // 20, "end_ns": span * 93 // 200}]}


def groups_of(ranks):
    gpus = [{"id": f"r{rank}g0", "label": f"rank {rank}, GPU 0", "rank": rank, "gpu": 0, "side": None} for rank in range(ranks)]
    return gpus, [{"id": f"r{rank}", "label": f"rank {rank}, host", "rank": rank, "gpu": None, "side": None} for rank in range(ranks)]


def picture(names, groups, span, over, windows, places=(), notes=()):
    return {"version": 1, "origin_ns": "1764547200123456789", "span_ns": span, "names": names.all(), "kinds": [{"id": kind, "label": LABELS[kind]} for kind in KINDS],
            "groups": groups, "overview": over, "windows": windows, "places": list(places), "notes": list(notes)}


def usual(seed, ranks=8, kernels=400, steps=62, kernel_names=KERNELS):
    source, names = random.Random(seed), Names()
    gpus, hosts = groups_of(ranks)
    length = 75_000_000
    span = steps * length
    typical = window(source, names, "typical", "typical step: 17 of rank 0", "its 75.0 ms are the median of 62 steady steps", 0, 17 * length, 18 * length, kernels, kernel_names=kernel_names)
    worst = window(source, names, "worst", "worst step: 41 of rank 3", "its 98.2 ms are the longest of 62 steady steps", min(3, ranks - 1), 41 * length, 41 * length + 98_200_000, kernels, 1.2, kernel_names=kernel_names)
    places = [{"id": "finding/straggler", "label": "Straggler rank 3 GPU 0: 23 ms (0.5% of traced GPU time)", "group": worst["group"], "start_ns": 41 * length + 5_000_000, "end_ns": 41 * length + 28_000_000},
              {"id": "finding/host_bound_idle", "label": "Host-bound: GPUs idle 412 ms", "group": "r0g0", "start_ns": 17 * length + 8_000_000, "end_ns": 17 * length + 9_100_000},
              {"id": "finding/host_bound_idle", "label": "Host-bound: GPUs idle 412 ms", "group": "r0g0", "start_ns": 17 * length + 30_000_000, "end_ns": 17 * length + 31_000_000},
              {"id": "finding/exposed_communication", "label": "Exposed communication: 1.2 s (26% of traced GPU time)", "group": "r0g0", "start_ns": 17 * length + 50_000_000, "end_ns": 17 * length + 64_000_000}]
    return picture(names, gpus + hosts, span, overview(source, gpus, 1200, span, steps), [typical, worst], places, ["Rank 5 has no API calls."])


def comparison(seed):
    source, names = random.Random(seed), Names()
    length = 60_000_000
    base = window(source, names, "base", "base: step 17", "the median step of the base", 0, 17 * length, 18 * length, 120)
    new = window(source, names, "new", "new: step 19", "the median step of the new run", 0, 19 * length, 19 * length + 52_000_000, 120, 0.85)
    for one, side in ((base, "base"), (new, "new")):
        one["group"] = f"{side}/{one['group']}"
        for each in one["lanes"]:
            each["group"] = f"{side}/{each['group']}"
    count = len(base["lanes"][1]["slices"]["id"])
    base["lanes"][1]["slices"]["mark"] = [1 if place % 9 == 4 else 0 for place in range(count)]
    new["lanes"][1]["slices"]["mark"] = [2 if place % 13 == 6 else 0 for place in range(count)]
    new["pairs"] = [[1, place, 1, place] for place in range(count) if place % 9 != 4 and place % 13 != 6]
    groups = [{"id": f"{side}/{id}", "label": f"rank 0{', GPU 0' if id != 'r0' else ', host'}", "rank": 0, "gpu": 0 if id != "r0" else None, "side": side} for side in ("base", "new") for id in ("r0g0", "r0")]
    span = 62 * length
    over = overview(source, [group for group in groups if group["gpu"] == 0], 600, span, 62)
    return picture(names, groups, span, over, [base, new], [{"id": "finding/slower", "label": "Cijk BBS MT256x224x64 is slower", "group": "new/r0g0", "start_ns": 19 * length + 1_000_000, "end_ns": 19 * length + 9_000_000}])


def edges():
    """Small windows, each with a hard case."""
    names = Names()
    gpus, hosts = groups_of(1)
    day = 86_400_000_000_000
    def short(id, slices, start=0, end=1000, levels=1, kind="kernels", group="r0g0"):
        return {"id": id, "label": id, "reason": "", "group": "r0g0", "start_ns": start, "end_ns": end, "lanes": [lane(f"{group}/{id}", group, kind, id, slices, start, levels)], "flows": [], "path": {"start_ns": [], "length_ns": [], "lane": []}}
    one = names("one")
    def slice_(at, length, level=0, ident=0, kind="gemm"):
        return (at, length, one, KIND[kind], level, ident, 1, length, 0, -1)
    windows = [short("empty", []), short("one", [slice_(400, 200)]), short("zero", [slice_(500, 0, ident=1), slice_(700, 0, ident=2)]),
               short("overlapping", [slice_(100, 800, ident=1), slice_(200, 10, ident=2, kind="attention"), slice_(950, 20, ident=3)]),
               short("nested", [slice_(100, 800, 0, 1, "range"), slice_(150, 300, 1, 2, "operator"), slice_(160, 100, 2, 3, "api")], levels=3, kind="ranges", group="r0"),
               short("calls", [slice_(10, 100, ident=1, kind="api")], kind="calls", group="r0"), short("negative", [slice_(4_000, 3_000, ident=1), slice_(8_000, 500, ident=2)], 5_000, 10_000),
               # Half, none and all of the highest value.
               short("values", [(at, 300, one, KIND["copy"], 0, at, 1, busy, 0, -1) for at, busy in ((50, 150), (350, 0), (650, 300))], kind="counter"),
               short("day", [slice_(0, 1_000_000, ident=1), slice_(day - 1_000_000, 1_000_000, ident=2, kind="attention")], 0, day),
               {"id": "none", "label": "none", "reason": "", "group": "r0g0", "start_ns": 0, "end_ns": 10, "lanes": [], "flows": [], "path": {"start_ns": [], "length_ns": [], "lane": []}}]
    over = overview(random.Random(1), gpus, 100, day, 3)
    return picture(names, gpus + hosts, day, over, windows)


def many(seed):
    """1e5 slices, the most that a page may hold."""
    return usual(seed, ranks=64, kernels=16_700)


def nothing():
    return picture(Names(), [], 0, {"bins": 1, "lanes": [], "ticks": [], "unit": "", "marks": []}, [], notes=["The trace has no events."])


def served(seed):
    """The first answer of a server with 1e7 events in 64 ranks; the test answers its requests."""
    source = random.Random(seed)
    gpus, hosts = groups_of(64)
    span = 3_600_000_000_000
    return picture(Names(), gpus + hosts, span, overview(source, gpus, 2000, span, 400), [], [{"id": "finding/straggler", "label": "Straggler rank 3 GPU 0", "group": "r3g0", "start_ns": span // 2, "end_ns": span // 2 + 5_000_000}])


def late(seed):
    """A run whose GPUs work at its end only."""
    source = random.Random(seed)
    gpus, hosts = groups_of(2)
    span, bins = 60_000_000_000, 600
    # The first work takes a 255th of its bin.
    lead, busy = bytes([255] * 568 + [254, 255] + [0] * 30), bytes([0] * 568 + [1, 0] + [255] * 20 + [0] * 10)
    tail = bytes([0] * 590 + [255] * 10)
    kinds = [*KINDS, "idle:lead", "idle:tail"]
    shares = {str(kinds.index(kind)): base64.b64encode(values).decode() for kind, values in (("compute", busy), ("idle:lead", lead), ("idle:tail", tail))}
    over = {"bins": bins, "lanes": [{"group": one["id"], "label": one["label"], "count": 1, "shares": shares} for one in gpus], "ticks": [], "unit": "step", "marks": []}
    names = Names()
    content = picture(names, gpus + hosts, span, over, [window(source, names, "typical", "typical step", "its 1.0 s", 0, 57_200_000_000, 58_200_000_000, 100)])
    content["names"] = names.all()
    content["kinds"] += [{"id": kind, "label": kind} for kind in kinds[-2:]]
    return content


def wide(seed):
    source = random.Random(seed)
    gpus, hosts = groups_of(1000)
    return picture(Names(), gpus, 60_000_000_000, overview(source, gpus, 300, 60_000_000_000, 100), [])


def page(name, content, is_served=False):
    templates = ROOT / "templates"
    styles = "".join((templates / path).read_text() for path in ("report/base.css", "charts.css", "report/layout.css", "report/tables.css", "report/findings.css", "report/print.css", "timeline/timeline.css"))
    theme, copy, script = ((templates / path).read_text() for path in ("report/theme.js", "report/copy.js", "timeline/timeline.js"))
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in (theme, copy, script))
    ids = sorted({place["id"] for place in content["places"]})
    findings = "".join(f'<details class="finding high" id="{id}" open><summary><span class="priority">high</span><h3>{id}</h3></summary><div class="finding-body"><p><a href="#f={id}">Show in the time line</a></p></div></details>' for id in ids)
    mount = '<div id="timeline"></div>' if is_served else '<div id="timeline" data-timeline="picture" data-input="\'traces/run 7\'"><svg viewBox="0 0 600 40" role="img" aria-label="static picture"><rect width="600" height="40" fill="#8a9098"/><text x="8" y="24" class="still-text">Static picture</text></svg></div>'
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>{name}</title>
<link rel="icon" href="data:,"><script>{theme}</script><style>{styles}</style></head>
<body><div id="announcer" class="unseen"></div><main id="content"><h1>Time line: {name}</h1>
<section aria-label="Time line"><h2>Time line</h2>{mount}</section>
<section id="findings" aria-label="Findings"><h2>Findings</h2>{findings}</section></main>
<script type="application/json" id="picture">{text}</script><script>{copy}</script><script>{script}</script></body></html>
"""


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    hostile = [(name, KERNELS[place % len(KERNELS)][1], 60_000) for place, name in enumerate(HOSTILE)]
    pictures = {"usual": usual(7), "compare": comparison(8), "edges": edges(), "many": many(9), "nothing": nothing(), "hostile": usual(10, 2, 200, kernel_names=hostile), "served": served(11), "wide": wide(12), "late": late(13)}
    for group in pictures["hostile"]["groups"]:
        group["label"] += ' <b onclick="window.harmed=1">\u202e'
    for name, content in pictures.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
        (folder / f"{name}.html").write_text(page(name, content, name == "served"))


if __name__ == "__main__":
    main()
