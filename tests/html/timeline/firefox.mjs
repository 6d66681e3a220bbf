// Opens time lines in Firefox, if it is installed, by the protocol that it has built in: firefox.mjs FOLDER
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { LIGHT, pictureOf, slicesOf } from "./tools.mjs";

const folder = resolve(process.argv[2]);
const profile = mkdtempSync(join(tmpdir(), "firefox-"));
const failures = [];
let checks = 0;
const check = (name, holds, seen = "") => {
  checks += 1;
  if (!holds) failures.push(`${name} (${JSON.stringify(seen)?.slice(0, 400)})`);
};
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// Messages are JSON lists after their length: a kind, a number, an error, a result.
const session = async (port) => {
  let socket;
  for (let tries = 0; !socket; tries += 1) {
    socket = await new Promise((done) => {
      const one = connect(port, "127.0.0.1", () => done(one)).on("error", () => done(null));
    });
    if (!socket && tries > 200) throw new Error("Firefox does not listen");
    if (!socket) await wait(100);
  }
  const waiting = new Map();
  let held = Buffer.alloc(0);
  socket.on("data", (data) => {
    held = Buffer.concat([held, data]);
    for (;;) {
      const colon = held.indexOf(":");
      const length = Number(held.subarray(0, colon));
      if (colon < 0 || held.length < colon + 1 + length) return;
      const message = JSON.parse(held.subarray(colon + 1, colon + 1 + length));
      held = held.subarray(colon + 1 + length);
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message;
      const [done, fail] = waiting.get(id);
      if (error) fail(new Error(`${error.error}: ${error.message}`));
      else done(result);
    }
  });
  let number = 0;
  return (command, values = {}) => new Promise((done, fail) => {
    number += 1;
    waiting.set(number, [done, fail]);
    const text = Buffer.from(JSON.stringify([0, number, command, values]));
    socket.write(`${text.length}:`);
    socket.write(text);
  });
};

const use = async (send) => {
  const run = async (act, ...args) => (await send("WebDriver:ExecuteScript", { script: `return (${act})(...arguments)`, args })).value;
  const open = (name) => send("WebDriver:Navigate", { url: pathToFileURL(join(folder, `${name}.html`)).href });
  const element = async (css) => Object.values((await send("WebDriver:FindElement", { using: "css selector", value: css })).value)[0];
  const press = async (...keys) => send("WebDriver:PerformActions", { actions: [{ type: "key", id: "keys", actions: keys.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]) }] });
  const origin = { "element-6066-11e4-a52e-4f735466cecf": "" };
  const pointer = async (pointerType, id, actions) => ({ type: "pointer", id, parameters: { pointerType }, actions });
  const range = () => run("() => document.getElementById('timeline').timeline.range()");
  const frames = () => run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");

  const picture = pictureOf(folder, "usual");
  const [typical] = picture.windows;
  await open("usual");
  // Where slices are, what is drawn there, and what is found there.
  await run("(a, b) => { document.getElementById('timeline').timeline.go(a, b); document.getElementById('timeline').timeline.drawNow(); }", typical.start_ns + 8_000_000, typical.start_ns + 14_000_000);
  const lane = typical.lanes.find((one) => one.kind === "kernels");
  const shown = slicesOf(lane, typical.start_ns).filter(({ start, end }) => start > typical.start_ns + 8_100_000 && end < typical.start_ns + 13_900_000);
  const seen = await run(`(lane, places) => {
    const { timeline } = document.getElementById("timeline");
    const canvas = document.querySelector(".tl-canvas");
    const ratio = canvas.width / canvas.clientWidth;
    const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return places.map((place) => {
      const box = timeline.box(lane, place);
      const at = (Math.floor((box.y + 2.5) * ratio) * width + Math.floor((box.x + box.width - 3) * ratio)) * 4;
      return { width: box.width, color: data.slice(at, at + 3).join(","), at: timeline.at(box.x + box.width / 2, box.y + box.height / 2)?.slice };
    });
  }`, lane.id, shown.map(({ place }) => place));
  let compared = 0;
  shown.forEach((slice, at) => {
    const color = LIGHT[picture.kinds[slice.kind].id];
    if (!color || seen[at].width < 8) return;
    compared += 1;
    check("a slice has its color", seen[at].color === color, { slice, seen: seen[at] });
    check("a slice is found at its place", seen[at].at === slice.place, { slice, seen: seen[at] });
  });
  check("has compared slices", compared > 10, compared);
  check("is not wider than the window", await run("() => document.documentElement.scrollWidth <= innerWidth"));

  const canvas = await element(".tl-canvas");
  origin[Object.keys(origin)[0]] = canvas;
  await run("() => document.querySelector('.tl-canvas').focus()");
  const length = async () => { const { start_ns, end_ns } = await range(); return end_ns - start_ns; };
  let before = await length();
  await press("w");
  check("w zooms", (await length()) < before);
  before = await length();
  await send("WebDriver:PerformActions", { actions: [{ type: "wheel", id: "wheel", actions: [{ type: "scroll", origin, x: 100, y: 0, deltaX: 0, deltaY: -120 }] }] });
  await frames();
  check("the wheel zooms", (await length()) < before, [before, await length()]);
  let start = (await range()).start_ns;
  const drag = (type, id, from, to) => pointer(type, id, [{ type: "pointerMove", origin, x: from[0], y: from[1] }, { type: "pointerDown", button: 0 }, { type: "pointerMove", origin, x: to[0], y: to[1], duration: 100 }, { type: "pointerUp", button: 0 }]);
  await send("WebDriver:PerformActions", { actions: [await drag("mouse", "mouse", [200, -20], [100, -20])] });
  check("drags", (await range()).start_ns > start);
  start = (await range()).start_ns;
  await send("WebDriver:PerformActions", { actions: [await drag("touch", "one", [200, -20], [100, -20])] });
  check("a finger moves", (await range()).start_ns > start);
  before = await length();
  await send("WebDriver:PerformActions", { actions: [await drag("touch", "one", [-20, -20], [-160, -20]), await drag("touch", "two", [20, -20], [160, -20])] });
  check("two fingers zoom", (await length()) < before, [before, await length()]);
  await press("\uE00C", "0", ",", "\uE006");
  await frames();
  check("Enter pins", await run("() => !document.querySelector(\"section[aria-label='Pinned slice']\").hidden"));
  check("the address has the range", /#t=\d+-\d+/.test(await run("() => new Promise((done) => setTimeout(() => done(location.hash), 400))")));

  await open("many");
  const speed = await run(`async () => {
    const { timeline } = document.getElementById("timeline");
    const times = [];
    for (let step = 0; step < 60; step += 1) {
      timeline.zoom(step % 30 < 15 ? 0.85 : 1 / 0.85);
      const began = performance.now();
      timeline.drawNow();
      times.push(performance.now() - began);
      await new Promise((done) => requestAnimationFrame(done));
    }
    return times.sort((a, b) => a - b);
  }`);
  console.log(`time line in Firefox, 105,000 slices: drawing median ${speed[30].toFixed(1)}, maximum ${speed[59].toFixed(1)} ms`);
  // Other work of the machine takes most of a slow frame: the fastest are the page's own.
  check("a frame can be drawn in 16 ms", speed[5] <= 16, speed);
  for (const name of ["compare", "edges", "nothing", "hostile"]) {
    await open(name);
    check(`opens ${name}`, await run("() => Boolean(document.getElementById('timeline').timeline) && !document.querySelector('.tl-still').checkVisibility()"));
  }
  if (process.env.SHOTS) {
    for (const name of ["usual", "compare"]) {
      await open(name);
      writeFileSync(join(process.env.SHOTS, `firefox-${name}.png`), Buffer.from((await send("WebDriver:TakeScreenshot", { full: true })).value, "base64"));
    }
  }
};

const port = 20_000 + (process.pid % 20_000);
writeFileSync(join(profile, "user.js"), [["marionette.port", port], ["ui.prefersReducedMotion", 1], ["layout.css.prefers-color-scheme.content-override", 1], ["datareporting.policy.dataSubmissionEnabled", false]].map(([name, value]) => `user_pref("${name}", ${value});\n`).join(""));
const firefox = spawn(process.env.FIREFOX ?? "firefox-esr", ["--headless", "--marionette", "--no-remote", "--profile", profile, "--width", "1400", "--height", "1000"], { stdio: "ignore", env: { ...process.env, HOME: profile } });
try {
  const send = await session(port);
  await send("WebDriver:NewSession", { capabilities: { alwaysMatch: { acceptInsecureCerts: false } } });
  await use(send).catch((error) => check(error.stack, false));
  await send("Marionette:Quit", { flags: ["eForceQuit"] }).catch(() => {});
} catch (error) {
  check(error.stack, false);
}
await Promise.race([new Promise((done) => { if (firefox.exitCode !== null) done(); firefox.on("exit", done); }), wait(5_000)]);
if (firefox.exitCode === null) firefox.kill("SIGKILL");
rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
for (const failure of failures) console.error(`FAILED Firefox: ${failure}`);
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length > 0 || checks < 30 ? 1 : 0);
