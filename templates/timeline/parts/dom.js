// Elements, always with text as text.
import { floor, max, min, round } from "./numbers.js";

export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
};

// A canvas as large as its box on the screen, in pixels of the device.
export const fit = (canvas, width, height) => {
  const ratio = min(4, window.devicePixelRatio || 1);
  const [w, h] = [max(1, round(width * ratio)), max(1, round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.textBaseline = "middle";
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, ratio };
};

// A filled box.
export const fillBox = (context, color, x, y, width, height, alpha = 1) => {
  context.globalAlpha = alpha;
  context.fillStyle = color;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
};

export const listen = (target, event, act, options) => target.addEventListener(event, act, options);

export const button = (kind, onclick, ...words) => make("button", { type: "button", class: kind, onclick }, ...words);

export const setFont = (context, palette, size, isBold) => {
  context.font = `${isBold ? "600 " : ""}${size}px ${palette.font}`;
};

export const small = (...words) => make("p", { class: "tl-small" }, ...words);

// Diagonal lines over a box: a sign that needs no color.
export const hatch = (context, x, y, width, height, color, gap = 7) => {
  if (width <= 0 || height <= 0) return;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = x - height - ((x - height) % gap); at < x + width + gap; at += gap) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
};

// Text cut to a width. One measure per text is kept; letters count as equally wide.
const widths = new Map();
export const label = (context, words, x, y, width) => {
  if (width < 14) return;
  const short = words.length > 300 ? words.slice(0, 300) : words;
  const key = `${context.font}|${short}`;
  let full = widths.get(key);
  if (full === undefined) {
    if (widths.size > 5000) widths.clear();
    full = context.measureText(short).width;
    widths.set(key, full);
  }
  if (full <= width) return context.fillText(short, x, y);
  const letters = floor((width / full) * short.length) - 1;
  if (letters >= 4) context.fillText(`${short.slice(0, letters)}…`, x, y, width);
};
