// Times are whole nanoseconds from the origin of the picture; numbers with fractions are pixels or text.
import { abs, ceil, floor, max, round } from "./numbers.js";
import { grouped } from "./text.js";

const UNITS = [[3.6e12, "h"], [6e10, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"]];

const unitOf = (ns) => UNITS.find(([size]) => abs(ns) >= size && (size <= 1e9 || abs(ns) >= size * 2)) ?? [1, "ns"];

const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

// A duration in four digits.
export const duration = (ns) => {
  const [size, unit] = unitOf(ns);
  return size === 1 ? `${ns} ns` : `${trimmed((ns / size).toPrecision(4))} ${unit}`;
};

// A duration in four digits, and exactly if that is more.
export const exactly = (ns) => (abs(ns) < 1000 ? `${ns} ns` : `${duration(ns)} (${grouped(ns)} ns)`);

export const absolute = (picture, ns) => {
  try {
    return String(BigInt(picture.origin_ns) + BigInt(ns));
  } catch {
    return "";
  }
};

// The step of a scale: 1, 2 or 5 times a power of ten, or a number of minutes or hours.
export const stepOf = (length, count) => {
  const least = max(1, length / count);
  if (least > 2e10) {
    for (const step of [3e10, 6e10, 1.2e11, 3e11, 6e11, 1.2e12, 1.8e12, 3.6e12, 7.2e12, 1.44e13, 2.16e13, 4.32e13, 8.64e13]) if (step >= least) return step;
  }
  const power = 10 ** floor(Math.log10(least));
  return power * ([1, 2, 5].find((times) => times * power >= least) ?? 10);
};

// Labels of a scale in the unit of its largest number, with the digits that its step needs.
export const tickLabel = (ns, step, largest) => {
  if (ns === 0) return "0";
  const [size, unit] = unitOf(max(abs(largest), step));
  let digits = 0;
  while (digits < 12 && abs((step / size) * 10 ** digits - round((step / size) * 10 ** digits)) > 1e-6) digits += 1;
  return `${(ns / size).toFixed(digits)} ${unit}`;
};

// The ticks of a scale between two times, counted from a base.
export const ticksOf = (start, end, base, step) => {
  const ticks = [];
  for (let at = base + ceil((start - base) / step) * step; at <= end && ticks.length < 500; at += step) ticks.push(at);
  return ticks;
};
