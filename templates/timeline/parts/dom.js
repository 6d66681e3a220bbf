// Elements, always with text as text.
import { floor, max, min, round } from "./numbers.js";

// `make("div.head", { title }, …)`: an element with the class `tl-head`. Attributes may be left out.
export const make = (tag, ...children) => {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes[0]) element.className = classes.map((one) => `tl-${one}`).join(" ");
  if (name === "button") element.type = name;
  const [first] = children;
  if (first && typeof first === "object" && !first.nodeType) {
    for (const [key, value] of Object.entries(children.shift())) {
      if (key.startsWith("on")) listen(element, key.slice(2), value);
      else if (value !== false && value !== undefined) element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children);
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

export const button = (kind, onclick, ...words) => make(`button.${kind}`, { onclick }, ...words);

export const setFont = (context, palette, size, isBold) => {
  context.font = `${isBold ? "600 " : ""}${size}px ${palette.font}`;
};

export const small = (...words) => make("p.small", ...words);

// Where the pointer is on a canvas, and how far off it may be: fingers are wide.
export const pointOf = (event) => {
  const box = event.currentTarget.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
export const isTouch = (event) => event.pointerType === "touch";

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
export const label = (context, color, words, x, y, width) => {
  if (width < 14) return;
  context.fillStyle = color;
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
