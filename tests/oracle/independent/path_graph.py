"""Kernels, copies and calls of a process as moments, each after others: what bound the end of its work.

Recorded times are taken for the truth. Of the causes that something had, the one that was over last bound it, and keeps its delay.
A call that contains others stands for them. Everything is looked for by brute force, since the inputs are small.
"""

from derived_check import waits

from .launching import source_of

# Without a recorded launch, work may have waited for what ended this long before, or this share of the span.
NEAR_NS, NEAR_SHARE = 50_000, 100
# With one, for work of another stream that ended this long before, where launch and stream leave more than this open.
CLOSE_NS, UNEXPLAINED_NS = 10_000, 20_000


class Graph:
    """`works` in the order of their starts, `calls` by thread and start, and the causes of each."""

    def __init__(self, process):
        source = source_of(process)
        rows = [row | {"kind": "kernel", "id": row["dispatch_id"]} for row in process.valid("kernels")]
        rows += [row | {"kind": "copy", "id": row["copy_id"], "kernel_name": row["direction"]} for row in process.valid("copies")]
        self.works = sorted(rows, key=lambda row: (row["start_ns"], row["end_ns"], row["kind"] == "copy", row["id"]))
        self.calls, places = outermost(source, {row["correlation_id"] for row in rows})
        kernels = [work for work in self.works if work["kind"] == "kernel"]
        streams, queues = (len({work[column] for work in kernels} - {None}) for column in ("stream_id", "queue_id"))
        # Where all kernels of several queues name one stream, streams are not recorded.
        self.by_stream = streams > 1 or (streams == 1 and queues < 2)
        for place, work in enumerate(self.works):
            own = source.by_id.get(work["correlation_id"])
            work |= {"place": place, "call": places.get(id(own)) if own else None, "lane": self.lane(work)}
        self.first = min((work["start_ns"] for work in self.works), default=0)
        self.last = max((work["end_ns"] for work in self.works), default=0)
        for work in self.works:
            work["causes"] = self.causes_of(work)
        for call in self.calls:
            call["waited"] = self.waited_for(call)

    def lane(self, work):
        """The stream of work, or its queue, which runs in order; of copies no queue is known."""
        if self.by_stream and work["stream_id"] is not None:
            return (work["gpu"], "stream", work["stream_id"])
        return None if work["kind"] == "copy" or work["queue_id"] is None else (work["gpu"], "queue", work["queue_id"])

    def issued(self, work):
        call = work["call"]
        return work["start_ns"] if call is None else min(self.calls[call]["start"], work["start_ns"])

    def over_before(self, work):
        """Work that ended before other work started; what takes no time and starts together ends in order."""
        start, place = work["start_ns"], work["place"]
        return [one for one in self.works if one["end_ns"] <= start and (one["start_ns"] < start or one["place"] < place)]

    def causes_of(self, work):
        """(kind, place, time) of why work did not start before, the one that bound first."""
        over = self.over_before(work)
        by_end = lambda one: (one["end_ns"], one["start_ns"], one["place"])
        before = max((one for one in over if one["lane"] is not None and one["lane"] == work["lane"]), key=by_end, default=None)
        found = [] if before is None else [("stream", before["place"], before["end_ns"])]
        launch = None
        if work["call"] is not None:
            call = self.calls[work["call"]]
            if call["end"] <= work["start_ns"]:
                launch = ("launched", work["call"], call["end"])
            elif call["start"] <= work["start_ns"]:
                launch = ("launching", work["call"], call["start"])
        found += [launch] if launch else []
        last, known = max(over, key=by_end, default=None), max((one[2] for one in found), default=None)
        if last is not None and (known is None or last["end_ns"] > known):
            gap = work["start_ns"] - last["end_ns"]
            if launch:
                explains = gap <= CLOSE_NS and work["start_ns"] - known > UNEXPLAINED_NS
            else:
                explains = gap <= max(NEAR_NS, (self.last - self.first) // NEAR_SHARE)
            found += [("inferred", last["place"], last["end_ns"])] if explains else []
        return sorted(found, key=lambda one: -one[2])

    def waited_for(self, call):
        """The work whose end let a call return, nothing where it waited for none."""
        if not call["waits"]:
            return None
        own = [work for work in self.works if work["call"] == call["place"]]
        issued = own or [work for work in self.works if self.issued(work) < call["start"]]
        if not own and call["waits"] != "any":
            # The last work of each stream.
            tails = {}
            for work in issued:
                key = work["lane"] if work["lane"] is not None else ("alone", work["place"])
                if key not in tails or (tails[key]["end_ns"], tails[key]["place"]) < (work["end_ns"], work["place"]):
                    tails[key] = work
            issued = list(tails.values())
        ended = [work for work in issued if call["start"] < work["end_ns"] <= call["end"]]
        ended = [work for work in ended if work["duration_ns"] or work["end_ns"] < call["end"]]
        last = max(ended, key=lambda work: (work["end_ns"], work["start_ns"], work["place"]), default=None)
        return None if last is None else last["place"]

    def before(self, call):
        """The call before one on its thread."""
        place = call["place"]
        other = self.calls[place - 1] if place else None
        return other if other and other["tid"] == call["tid"] else None

    def edges(self, free=()):
        """(from, to, least time between them) of all moments: ("work" or "call", place, "start" or "end")."""
        found = []
        for work in self.works:
            place = work["place"]
            for number, (kind, cause, time) in enumerate(work["causes"]):
                moment = {"launched": ("call", cause, "end"), "launching": ("call", cause, "start")}.get(kind, ("work", cause, "end"))
                found.append((moment, ("work", place, "start"), 0 if number else work["start_ns"] - time))
            found.append((("work", place, "start"), ("work", place, "end"), 0 if place in free else work["duration_ns"]))
        for call in self.calls:
            place, start, end = call["place"], ("call", call["place"], "start"), ("call", call["place"], "end")
            if call["waited"] is None:
                found.append((start, end, call["end"] - call["start"]))
            else:
                work = self.works[call["waited"]]
                found += [(("work", call["waited"], "end"), end, call["end"] - work["end_ns"]), (start, end, 0)]
            found += [(("work", work["place"], "end"), end, 0) for work in self.drained(call)]
            before = self.before(call)
            if before:
                returned = before["end"] <= call["start"]
                since = before["end"] if returned else before["start"]
                found.append((("call", before["place"], "end" if returned else "start"), start, call["start"] - since))
        return sorted(found, key=lambda edge: self.recorded(edge[1]))

    def drained(self, call):
        """All work given before to the device that a call waits for."""
        gpus = {work["gpu"] for work in self.works}
        if call["waits"] != "device":
            return []
        gpu = self.works[call["waited"]]["gpu"] if call["waited"] is not None else next(iter(gpus)) if len(gpus) == 1 else None
        return [work for work in self.works if gpu is not None and work["gpu"] == gpu and self.issued(work) < call["start"]]

    def recorded(self, moment):
        kind, place, side = moment
        one = self.works[place] if kind == "work" else self.calls[place]
        return one[f"{side}_ns"] if kind == "work" else one[side]

    def slack(self):
        """By work: how much later it could end, all that depends on it shifted, without moving the last end."""
        edges, latest = self.edges()[::-1], {}
        for work in self.works:
            latest[("work", work["place"], "end")] = self.last
        changed = True
        while changed:
            changed = False
            for before, after, delay in edges:
                if after in latest and latest[after] - delay < latest.get(before, float("inf")):
                    latest[before], changed = latest[after] - delay, True
        return {work["place"]: latest[("work", work["place"], "end")] - work["end_ns"] for work in self.works}

    def end_without(self, name):
        """When the last work would end if a kernel took no time."""
        free = {work["place"] for work in self.works if work["kind"] == "kernel" and work["kernel_name"] == name}
        edges, times = self.edges(free), {}
        bound = {after for _, after, _ in edges}
        for kind, ones in (("work", self.works), ("call", self.calls)):
            for one in ones:
                moment = (kind, one["place"], "start")
                if moment not in bound:
                    times[moment] = self.recorded(moment)
        changed = True
        while changed:
            changed = False
            for before, after, delay in edges:
                if before in times and times[before] + delay > times.get(after, float("-inf")):
                    times[after], changed = times[before] + delay, True
        return max(times[("work", work["place"], "end")] for work in self.works)


def kind_of_wait(name):
    if not waits(name):
        return None
    name = name.lower()
    if "devicesynchronize" in name or "ctxsynchronize" in name:
        return "device"
    return "stream" if "streamsynchronize" in name else "any"


def outermost(source, identities):
    """Calls that launch something or wait, without those inside others of them, and the place of each call by its identity."""
    launching = {id(source.by_id[identity]) for identity in identities if identity in source.by_id}
    chosen = [call for call in source.calls if id(call) in launching or kind_of_wait(call["name"])]
    chosen.sort(key=lambda call: (call["tid"] is not None, call["tid"] or 0, call["start"], -call["end"], call["row"]))
    calls, places = [], {}
    for call in chosen:
        if not calls or calls[-1]["tid"] != call["tid"] or calls[-1]["end"] < call["end"]:
            calls.append(call | {"place": len(calls), "waits": kind_of_wait(call["name"])})
        places[id(call)] = len(calls) - 1
    return calls, places
