// Drawing for front ends whose worlds are made of tiles: canvases, drawings that are data, motion between two states.
const $ = (id) => document.getElementById(id);
/** An element with attributes, handlers (`onclick`) and children; strings become text. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
/** A sign or a key on a button that has a label: it is shown, and not read out. */
const sign = (text, kind = "sign") => h("span", { class: kind, "data-text": text });
const words = (name) => name.replaceAll("_", " ");
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

function newCanvas(width, height = width) {
  return Object.assign(document.createElement("canvas"), { width, height });
}

/** Give a canvas this size in pixels of the page, and as many pixels as the screen has there. */
function fitCanvas(canvas, width, height) {
  const ratio = devicePixelRatio || 1, [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  return canvas.getContext("2d");
}

// -- strokes: drawings on a square of 64 units -----------------------------------------------------
const UNITS = 64, RIM = "#1d1a26", RIM_UNITS = 1;
const STROKES = {
  oval(ctx, x, y, across, down, fill) {
    paint(ctx, fill, () => ctx.ellipse(x, y, across, down, 0, 0, 2 * Math.PI));
  },
  box(ctx, x, y, right, bottom, fill, radius = 0) {
    paint(ctx, fill, () => ctx.roundRect(x, y, right - x, bottom - y, radius));
  },
  shape(ctx, fill, ...points) {
    paint(ctx, fill, () => points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y))));
  },
  line(ctx, colour, width, ...points) {
    Object.assign(ctx, { strokeStyle: colour, lineWidth: width, lineCap: "round", lineJoin: "round" });
    ctx.beginPath();
    points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.stroke();
  },
  arc(ctx, colour, width, x, y, radius, start, end) {
    Object.assign(ctx, { strokeStyle: colour, lineWidth: width, lineCap: "butt" });
    ctx.beginPath();
    ctx.arc(x, y, radius - width / 2, (start * Math.PI) / 180, (end * Math.PI) / 180);
    ctx.stroke();
  },
};

/** Fill a shape; the colour that is fully transparent takes away what is there. */
function paint(ctx, fill, trace) {
  const erases = /^#[0-9a-f]{6}00$/i.test(fill);
  if (erases) ctx.globalCompositeOperation = "destination-out";
  ctx.fillStyle = erases ? "#000" : fill;
  ctx.beginPath();
  trace();
  ctx.fill();
  ctx.globalCompositeOperation = "source-over";
}

/** A drawing of this many pixels. `colours`: for the colours that are words in it. `ground`: what is below it. */
function drawn(strokes, size, { colours = {}, ground = "" } = {}) {
  const canvas = newCanvas(size), ctx = canvas.getContext("2d");
  ctx.scale(size / UNITS, size / UNITS);
  if (ground) STROKES.box(ctx, 0, 0, UNITS, UNITS, ground);
  for (const [tool, ...values] of strokes) STROKES[tool](ctx, ...values.map((value) => colours[value] ?? value));
  return canvas;
}

/** A drawing with a dark rim, so that it stands out against any ground; with a shadow if it stands upright. */
function figure(strokes, size, { shadow = false, colours = {}, turn = 0, flip = false } = {}) {
  const inner = drawn(strokes, size, { colours }), silhouette = newCanvas(size), dark = silhouette.getContext("2d");
  dark.drawImage(inner, 0, 0);
  dark.globalCompositeOperation = "source-in";
  dark.fillStyle = RIM;
  dark.fillRect(0, 0, size, size);
  const canvas = newCanvas(size), ctx = canvas.getContext("2d"), reach = Math.max(1, (RIM_UNITS * size) / UNITS);
  ctx.translate(size / 2, size / 2);
  ctx.rotate((turn * Math.PI) / 180);
  if (flip) ctx.scale(-1, 1);
  ctx.translate(-size / 2, -size / 2);
  if (shadow) {
    ctx.fillStyle = "#00000050";
    ctx.beginPath();
    ctx.ellipse(size / 2, (58.2 * size) / UNITS, (21 * size) / UNITS, (5.2 * size) / UNITS, 0, 0, 2 * Math.PI);
    ctx.fill();
  }
  for (let i = 0; i < 8; i += 1) ctx.drawImage(silhouette, reach * Math.cos((i * Math.PI) / 4), reach * Math.sin((i * Math.PI) / 4));
  ctx.drawImage(inner, 0, 0);
  return canvas;
}

/** What is made once for each key: `memo(key, make)`. */
function memory(most = 600) {
  const known = new Map();
  return (key, make) => {
    if (!known.has(key)) {
      if (known.size >= most) known.clear();
      known.set(key, make());
    }
    return known.get(key);
  };
}

// -- motion ------------------------------------------------------------------------------------------
/** Call `frame(part)` with parts from 0 to 1 for some time; at once with 1 if motion is to be reduced. */
class Motion {
  #running = 0;
  /** Resolves when the motion is over, or another one has begun. */
  run(ms, frame) {
    cancelAnimationFrame(this.#running);
    this.done?.();
    if (isCalm.matches || document.hidden || !ms) return Promise.resolve(frame(1));
    const begun = performance.now();
    return new Promise((resolve) => {
      this.done = resolve;
      const next = (now) => {
        const part = Math.min(1, Math.max(0, (now - begun) / ms));
        frame(part);
        if (part < 1) this.#running = requestAnimationFrame(next);
        else resolve();
      };
      this.#running = requestAnimationFrame(next);
    });
  }
}

/** For each thing now ({name, x, y}) where it was before, if it was at most `reach` tiles away; else where it is. */
function cameFrom(before, now, reach = 1) {
  const free = [...before];
  const take = (thing, most) => {
    const at = free.findIndex((old) => old.name === thing.name && Math.abs(old.x - thing.x) + Math.abs(old.y - thing.y) <= most);
    return at < 0 ? null : free.splice(at, 1)[0];
  };
  const still = now.map((thing) => take(thing, 0)); // those that have not moved first
  return now.map((thing, i) => still[i] ?? take(thing, reach) ?? thing);
}

/** Text that can be read on any ground. */
function label(ctx, text, x, y, size, colour = "#fff") {
  Object.assign(ctx, { font: `600 ${size}px system-ui, sans-serif`, textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: size / 4, strokeStyle: "#10141bd0", fillStyle: colour });
  ctx.strokeText(text, x, y);
  ctx.fillText(text, x, y);
}
