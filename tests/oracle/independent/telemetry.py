"""What was sampled of GPUs and processes over time: clocks, power, temperature, memory, links and running sums."""

import re

from .sums import grouped


def samples_of(process):
    """Every sample of a metric: a sample belongs to the counter of its event whose name its track has, with a number behind it."""
    raw, values = process.raw, {}
    for row in raw.rows("pmc_event"):
        values.setdefault(row["event_id"], []).append((raw.keyed("info_pmc").get(row["pmc_id"]), row["value"]))
    found = []
    for row in raw.rows("sample"):
        track = raw.string((raw.keyed("track").get(row["track_id"]) or {}).get("name_id"), "")
        for counter, value in values.get(row["event_id"], []):
            if counter and re.sub(r" \[\d+\]$", "", track) == counter["name"]:
                sample = {"process": process.number, "rank": process.rank, "node": process.node, "hostname": process.hostname}
                sample |= {"track": track, "name": counter["name"], "unit": counter["units"], "agent_id": counter["agent_id"]}
                found.append(sample | {"gpu": raw.gpus.get(counter["agent_id"]), "time_ns": row["timestamp"], "value": value})
    return sorted(found, key=lambda sample: (sample["track"], sample["time_ns"]))


def tracks_of(process):
    """Samples of each track of an agent, in the order of time."""
    return grouped(samples_of(process), ["name", "track", "unit", "agent_id", "gpu"])


def steps(samples):
    """(start, end, value): each value until the next sample."""
    return [(one["time_ns"], after["time_ns"], one["value"]) for one, after in zip(samples, samples[1:])]


def mean_while(samples, start, end):
    """Mean of a track between two moments, the last value lasting on, over the time from the first sample; nothing before it."""
    if not samples or samples[0]["time_ns"] > start and samples[0]["time_ns"] >= end:
        return None
    valid = [*steps(samples), (samples[-1]["time_ns"], float("inf"), samples[-1]["value"])]
    if start == end:
        return next(value for left, right, value in reversed(valid) if left <= start)
    parts = [(min(right, end) - max(left, start), value) for left, right, value in valid if left < end and right > start]
    return sum(length * value for length, value in parts) / sum(length for length, _ in parts)
