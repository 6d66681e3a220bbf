// Pages of the time line, and pictures read by the tests on their own.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "../browser.mjs";

export const pictureOf = (folder, name) => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));

// A page of a picture, opened with a hash.
export const openAt = async (browser, folder, name, hash = "", options = {}) => {
  const opened = await open(browser, join(folder, `${name}.html`), { viewport: { width: 1400, height: 1000 }, ...options });
  if (hash) {
    await opened.page.goto("about:blank");
    await opened.page.goto(pathToFileURL(join(folder, `${name}.html`)).href + hash);
  }
  return opened;
};

// Slices of a lane, with times from the origin.
export const slicesOf = (lane, start) => {
  let at = start;
  const { slices } = lane;
  return slices.start_ns.map((delta, place) => {
    at += delta;
    return { place, start: at, end: at + slices.length_ns[place], kind: slices.kind[place], name: slices.name[place], level: slices.level?.[place] ?? 0, id: slices.id[place] };
  });
};

// Shares of bins, packed or not.
export const sharesOf = (text) => {
  if (!text.startsWith("~")) return [...Buffer.from(text, "base64")];
  const rest = [...Buffer.from(text.slice(1), "base64")];
  const out = [];
  while (rest.length) {
    const first = rest.shift();
    if (first < 128) out.push(...rest.splice(0, first + 1));
    else out.push(...Array(first - 126).fill(rest.shift()));
  }
  return out;
};

export const call = (page, method, ...values) => page.evaluate(([method, values]) => document.getElementById("timeline").timeline[method](...values), [method, values]);

export const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// Where times are on the canvas, by what the test knows: the gutter and the width.
export const scaleOf = async (page) => {
  const { gutter, width, range } = await page.evaluate(() => {
    const { timeline } = document.getElementById("timeline");
    return { gutter: timeline.overviewBox(0).x, width: document.querySelector(".tl-canvas").clientWidth, range: timeline.range() };
  });
  const per = (width - gutter) / (range.end_ns - range.start_ns);
  return { gutter, width, range, per, x: (time) => gutter + (time - range.start_ns) * per };
};

// Colors of points of a canvas, as "r,g,b".
export const colorsAt = (page, selector, points) =>
  page.evaluate(([selector, points]) => {
    const canvas = document.querySelector(selector);
    const ratio = canvas.width / canvas.clientWidth;
    const copy = document.createElement("canvas");
    Object.assign(copy, { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data, width } = context.getImageData(0, 0, canvas.width, canvas.height);
    return points.map(([x, y]) => {
      const at = (Math.floor(y * ratio) * width + Math.floor(x * ratio)) * 4;
      return `${data[at]},${data[at + 1]},${data[at + 2]}`;
    });
  }, [selector, points]);

// Colors of templates/charts.css in light.
export const LIGHT = {
  gemm: "0,114,178", attention: "204,121,167", communication: "230,159,0", copy: "0,158,115", elementwise: "86,180,233", normalization: "213,94,0", compute: "0,114,178",
  exposed_communication: "230,159,0", ground: "255,255,255", grid: "228,231,235",
};
export const address = (page) => page.evaluate(() => location.hash);

// The first value that holds, or the last one after some seconds.
export const until = async (page, ask, holds) => {
  let value;
  for (let tries = 0; tries < 60; tries += 1) {
    value = await ask();
    if (holds(value)) return value;
    await page.waitForTimeout(50);
  }
  return value;
};
