// Functions of numbers by their short names.
export const { abs, ceil, floor, max, min, round } = Math;
