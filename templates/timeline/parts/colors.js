// Colors follow the id of a kind. They come from the style sheet, so that themes and paper change them.
import { round } from "./numbers.js";

const FAMILIES = {
  gemm: "compute", moe: "compute 0.6", attention: "purple", state_space: "purple 0.6", communication: "communication", copy: "copy", fill: "copy 0.6",
  convolution: "compute 0.75", elementwise: "sky", activation: "sky 0.65", triton: "sky 0.45", normalization: "vermilion", softmax: "vermilion 0.65", reduction: "vermilion 0.45",
  optimizer: "olive", embedding: "olive 0.7", index: "olive 0.5", kv_cache: "olive 0.4", quantization: "purple 0.4", layout: "slate 0.6", sort: "slate 0.45", random: "slate 0.8", rope: "olive 0.85",
  sampling: "olive 0.3", scan: "vermilion 0.8", loss: "vermilion 0.3", pooling: "sky 0.3", linear_algebra: "compute 0.45",
  compute: "compute", exposed_communication: "communication", exposed_copy: "copy",
  "idle:host_bound": "vermilion 0.55", "idle:sync": "purple 0.55", "idle:launch_delay": "olive 0.55", "idle:copy_only": "copy 0.45",
  "idle:paused": "idle 0.6 /", "idle:lead": "idle 0.6", "idle:tail": "idle 0.6", missing: "idle 0.7 /",
  api: "slate 0.5", sync: "purple 0.75", range: "sky 0.5", operator: "copy 0.5", python: "olive 0.5",
};
const SPARE = ["other", "slate 0.7", "other 0.6", "slate 0.35"];

const parse = (text) => {
  const hex = /^#([0-9a-f]{6})$/i.exec(text.trim())?.[1];
  return hex ? [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) : [128, 128, 128];
};
const mix = (color, ground, share) => color.map((part, at) => round(part * share + ground[at] * (1 - share)));
const text = (color) => `rgb(${color.join(",")})`;
const light = (color) => {
  const [r, g, b] = color.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

export const paletteOf = (element) => {
  const style = getComputedStyle(element);
  const variable = (name) => style.getPropertyValue(name);
  const ground = parse(variable("--chart-ground"));
  const all = new Map();
  const entry = (id) => {
    let spare = 0;
    for (const letter of id) spare = (spare * 31 + letter.charCodeAt(0)) % 997;
    const gap = id.startsWith("idle:") ? "idle" : null;
    const [name, share = "1", hatch] = (FAMILIES[id] ?? gap ?? SPARE[spare % SPARE.length]).split(" ");
    const color = mix(parse(variable(`--chart-${name}`)), ground, Number(share));
    const [r, g, b] = color;
    const isBright = light(color) > 0.2;
    const [sr, sg, sb] = mix(color, ground, 0.38);
    return {
      id, color, hatched: Boolean(hatch), fill: text(color), soft: text([sr, sg, sb]), dim: text(mix(color, ground, 0.13)),
      ink: isBright ? "#14181d" : "#ffffff", word: (255 << 24) | (b << 16) | (g << 8) | r,
    };
  };
  return {
    ground: text(ground), groundColor: ground, ink: variable("--chart-ink"), muted: variable("--chart-muted"), grid: variable("--chart-grid"), accent: variable("--accent") || "#0a5ea8",
    critical: variable("--critical") || "#b3261e", faint: variable("--faint") || "#e9edf1", path: variable("--tl-path"), font: style.fontFamily,
    of(id) {
      if (!all.has(id)) all.set(id, entry(id));
      return all.get(id);
    },
  };
};
