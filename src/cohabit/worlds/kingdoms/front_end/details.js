// What stands on the land, seen from near: trees, peaks, houses and fires. Each kind is drawn once as a small picture.
const NEAR = 9; // points of a tile from which on they are drawn

class Details {
  #sprites = new Map();
  #pieces = new Map(); // by place of a chunk: {canvas, scale, version}; those in the window

  draw(context, camera, land) {
    const { scale } = camera, { chunk } = land.frame, [left, top, right, bottom] = camera.window, shown = new Map();
    if (scale < NEAR) return this.#pieces.clear();
    const ratio = context.getTransform().a;
    for (let down = Math.max(Math.floor((top - 1) / chunk), 0); down <= Math.min((bottom + 1) / chunk, land.down - 1); down++) {
      for (let across = Math.max(Math.floor((left - 1) / chunk), 0); across <= Math.min((right + 1) / chunk, land.across - 1); across++) {
        const place = `${across},${down}`, piece = this.#piece(place, across * chunk, down * chunk, scale * ratio, land);
        shown.set(place, piece);
        const [x, y] = camera.pointOf(across * chunk - 1, down * chunk - 1);
        context.drawImage(piece.canvas, x, y, piece.canvas.width / ratio, piece.canvas.height / ratio);
      }
    }
    this.#pieces = shown;
  }

  /** What stands on a chunk, with a margin of one tile around it. */
  #piece(place, left, top, scale, land) {
    const known = this.#pieces.get(place), version = land.versions.get(place) ?? 0, { width, height, cover, frame } = land;
    if (known?.scale === scale && known.version === version) return known;
    const size = Math.ceil((frame.chunk + 2) * scale), canvas = known?.canvas ?? document.createElement("canvas");
    Object.assign(canvas, { width: size, height: size });
    const context = canvas.getContext("2d"), side = Math.ceil(scale * 1.5);
    for (let y = top; y < Math.min(top + frame.chunk, height); y++) {
      for (let x = left; x < Math.min(left + frame.chunk, width); x++) {
        const cell = y * width + x, kind = cover[cell], chance = Math.imul(cell, 0x9e3779b1) >>> 16;
        const sprite = kind & frame.hidden ? null : this.#sprite(kind, frame, side, chance % 3);
        if (!sprite) continue;
        const shift = STANDS.has(frame.covers[kind][0]) ? 0 : ((chance >> 4) % 9 - 4) * 0.03;
        context.drawImage(sprite, Math.round((x - left + 0.75 + shift) * scale), Math.round((y - top + 0.55 - shift) * scale));
      }
    }
    return { canvas, scale, version };
  }

  #sprite(kind, frame, side, variant) {
    const name = `${kind} ${side} ${variant}`;
    if (this.#sprites.has(name)) return this.#sprites.get(name);
    if (this.#sprites.size > 300) this.#sprites.clear();
    const [id, colour] = frame.covers[kind], painter = PAINTERS[id];
    let sprite = null;
    if (painter && !(RARE.has(id) && variant)) {
      sprite = Object.assign(document.createElement("canvas"), { width: side, height: side });
      const pen = new Pen(sprite.getContext("2d"), side / 15); // 15 units a side, the middle of the tile at 7.5, 9.5
      painter(pen, colour, variant);
    }
    this.#sprites.set(name, sprite);
    return sprite;
  }
}

class Pen {
  constructor(context, unit) {
    this.context = context;
    context.scale(unit, unit);
    context.lineJoin = "round";
  }

  shape(fill, points, line = "rgba(16, 18, 26, .55)") {
    const { context } = this;
    context.beginPath();
    for (const [x, y] of points) context.lineTo(x, y);
    context.closePath();
    this.#finish(fill, line);
  }

  disc(fill, x, y, wide, tall = wide, line = "rgba(16, 18, 26, .4)") {
    this.context.beginPath();
    this.context.ellipse(x, y, wide, tall, 0, 0, 7);
    this.#finish(fill, line);
  }

  shadow(wide = 4.4) {
    this.disc("rgba(0, 0, 0, .28)", 8.1, 13.4, wide, wide * 0.35, "transparent");
  }

  #finish(fill, line) {
    Object.assign(this.context, { fillStyle: fill, strokeStyle: line, lineWidth: 0.55 });
    this.context.fill();
    this.context.stroke();
  }
}

const shaded = (colour, by) => `rgb(${rgbOf(colour).map((part) => Math.min(Math.max(part + by, 0), 255)).join(" ")})`;

function broadleaf(pen, colour, variant) {
  pen.shadow(3.8);
  pen.shape("#5b4029", [[6.8, 9], [8.2, 9], [8.4, 13.4], [6.6, 13.4]], "transparent");
  pen.disc(shaded(colour, -14), 7.5, 7.6 - variant * 0.4, 4.2);
  pen.disc(shaded(colour, 16), 6.4, 6.2 - variant * 0.4, 2.3, 2.1, "transparent");
}

function conifer(pen, colour, variant) {
  pen.shadow(3.2);
  for (const [y, wide] of [[13, 4], [10.2, 3.3], [7.4, 2.5]]) pen.shape(shaded(colour, y * 2 - 34), [[7.5 - wide, y - variant * 0.4], [7.5, y - 5.4 - variant], [7.5 + wide, y - variant * 0.4]]);
}

function peak(pen, colour, variant) {
  const tip = 2.4 + variant;
  pen.shape(shaded(colour, 14), [[1, 13.6], [7.2, tip], [14, 13.6]]);
  pen.shape(shaded(colour, -26), [[7.2, tip], [14, 13.6], [8.4, 13.6]], "transparent");
  if (!variant) pen.shape("#eef2f5", [[5.6, 5.6], [7.2, tip], [9, 5.6], [7.8, 6.8], [7, 5.9]], "transparent");
}

function house(pen, colour, walls = "#e9dcc0", storeys = 1) {
  const eaves = 9.4 - (storeys - 1) * 2.4;
  pen.shadow();
  pen.shape(walls, [[3.4, eaves], [11.6, eaves], [11.6, 13.4], [3.4, 13.4]]);
  pen.shape(colour, [[2.2, eaves + 0.4], [4.8, eaves - 4.4], [10.2, eaves - 4.4], [12.8, eaves + 0.4]]);
  pen.shape("#4a3524", [[6.7, 11], [8.3, 11], [8.3, 13.4], [6.7, 13.4]], "transparent");
}

function flame(pen, colour, variant) {
  pen.disc("rgba(255, 140, 30, .35)", 7.5, 10, 6.5, 5.5, "transparent");
  pen.shape("#ff6a1a", [[3.8, 12.6], [4.6, 8 - variant], [6.4, 9.4], [7.4, 3.6 + variant], [9, 8.6], [10.6, 7], [11.4, 12.6]], "transparent");
  pen.shape("#ffd95a", [[5.8, 12.8], [6.6, 9.6], [7.6, 7.4 + variant], [8.8, 10], [9.4, 12.8]], "transparent");
}

function spots(pen, colour) {
  for (const [x, y] of [[4.4, 7.6], [9.6, 8.8], [6.6, 12], [11, 12.4]]) {
    pen.disc(shaded(colour, 26), x, y, 1.1, 1.1, "rgba(16, 18, 26, .25)");
    pen.disc("#ffe98a", x, y, 0.4, 0.4, "transparent");
  }
}

const STANDS = new Set(["house", "hall", "barracks", "market", "temple", "tower", "mine", "docks", "bonfire", "wall"]);
const RARE = new Set(["hills", "savanna", "flowers"]); // not on every tile
const PAINTERS = {
  forest: broadleaf, jungle: broadleaf, savanna: (pen) => broadleaf(pen, "#7f8f3a", 2), taiga: conifer,
  hills: (pen, colour) => peak(pen, colour, 2.4), mountains: peak, fire: flame, flowers: spots,
  mushrooms: (pen, colour) => {
    pen.shadow(2.4);
    pen.shape("#efe6d2", [[6.7, 9], [8.3, 9], [8.5, 13.2], [6.5, 13.2]]);
    pen.shape(colour, [[3.6, 9.6], [4.8, 6.4], [7.5, 5.2], [10.2, 6.4], [11.4, 9.6]]);
  },
  crystal: (pen, colour) => [[5.4, 1.6, 6], [9, 2, 4]].forEach(([x, wide, y]) => pen.shape(colour, [[x - wide, 12.6], [x - wide * 0.6, y + 2], [x, y], [x + wide * 0.7, y + 2.4], [x + wide, 12.6]])),
  house: (pen, colour) => house(pen, colour), docks: (pen, colour) => house(pen, colour, "#b59a72"),
  hall: (pen, colour) => house(pen, colour, "#f1e4c4", 2), market: (pen, colour) => house(pen, colour, "#d9604a"),
  barracks: (pen, colour) => house(pen, colour, "#8d8a86", 2),
  temple: (pen, colour) => {
    pen.shadow();
    pen.shape(shaded(colour, -30), [[3, 8.6], [12, 8.6], [12, 13.4], [3, 13.4]]);
    for (const x of [4.2, 6.6, 9]) pen.shape("#fbf8ee", [[x, 8.6], [x + 1.3, 8.6], [x + 1.3, 13.4], [x, 13.4]], "transparent");
    pen.shape(colour, [[2, 8.8], [7.5, 4.6], [13, 8.8]]);
  },
  tower: (pen, colour) => {
    pen.shadow(3);
    pen.shape(colour, [[5, 4.8], [10, 4.8], [10.4, 13.4], [4.6, 13.4]]);
    pen.shape(shaded(colour, 24), [[4.2, 2.6], [5.6, 2.6], [5.6, 3.6], [6.8, 3.6], [6.8, 2.6], [8.2, 2.6], [8.2, 3.6], [9.4, 3.6], [9.4, 2.6], [10.8, 2.6], [10.8, 5.4], [4.2, 5.4]]);
  },
  mine: (pen, colour) => {
    pen.shape("#8b857c", [[2.4, 13.4], [5, 7.4], [10, 7.4], [12.6, 13.4]]);
    pen.shape(colour, [[5.2, 13.4], [5.6, 9.8], [9.4, 9.8], [9.8, 13.4]]);
  },
  bonfire: (pen) => flame(pen, "", 1),
  wall: (pen, colour) => pen.shape(shaded(colour, 10), [[1.5, 6], [13.5, 6], [13.5, 13], [1.5, 13]]),
};
