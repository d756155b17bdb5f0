// Creatures: where they were in the last scene and where they are now, and how they are drawn in between.
const FAR = 12; // tiles: a creature that has gone further is simply there
const SLOWEST_MS = 1_600, QUICKEST_MS = 120;

const FIGURES_FROM = 4.5; // points of the screen: smaller creatures are dots
const pixelOf = (colour, alpha) => { // as the numbers of ImageData have it, on machines whose lowest byte comes first
  const [red, green, blue] = rgbOf(colour);
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
};

class Life {
  count = 0;
  #byId = new Map(); // the place in the arrays, by kind and id
  #groups = []; // [kingdom, species, isArmed, first, end]
  #sprites = new Map();
  #image = null; // of the dots
  #pixels = null;
  #began = 0;
  #lasts = 0;
  arrivedAt = 0; // when the last scene came

  /** A new scene has come. `smooth`: they walk there. */
  update({ frame, creatures }, smooth, now) {
    if (creatures === this.creatures) return false;
    this.creatures = creatures;
    const ids = new Uint16Array(bytesOf(creatures.ids).buffer), places = this.#decode(bytesOf(creatures.places), frame.coordinates);
    const from = new Float32Array(places.length), byId = new Map(), groups = [];
    const done = this.#done(now);
    let first = 0;
    for (const [kingdom, species, armed, count] of creatures.groups) {
      const kind = (kingdom * 512 + species) * 65_536; // arms are taken up and laid down
      for (let at = first; at < first + count; at++) {
        const before = this.#byId.get(kind + ids[at]), x = places[2 * at], y = places[2 * at + 1];
        byId.set(kind + ids[at], at);
        from[2 * at] = x;
        from[2 * at + 1] = y;
        if (before === undefined || !smooth) continue;
        const wasX = this.#at(2 * before, done), wasY = this.#at(2 * before + 1, done);
        if (Math.abs(wasX - x) < FAR && Math.abs(wasY - y) < FAR) [from[2 * at], from[2 * at + 1]] = [wasX, wasY];
      }
      groups.push([kingdom, species, armed, first, first += count]);
    }
    this.#lasts = smooth && this.arrivedAt ? Math.min(Math.max((now - this.arrivedAt) * 1.05, QUICKEST_MS), SLOWEST_MS) : 0;
    this.#began = this.arrivedAt = now;
    Object.assign(this, { from, to: places, count: first });
    this.#byId = byId;
    this.#groups = groups;
    return true;
  }

  #decode(bytes, bits) {
    return bits === 8 ? bytes : new Uint16Array(bytes.buffer);
  }

  /** How far they have walked since then, from 0 to 1. */
  get walking() {
    return this.#done(performance.now());
  }

  #done(now) {
    return this.#lasts ? Math.min((now - this.#began) / this.#lasts, 1) : 1;
  }

  #at(index, done) {
    return this.from[index] + (this.to[index] - this.from[index]) * done;
  }

  /** Draw them all; returns whether somebody still walks. */
  draw(context, camera, kingdoms, frame, now) {
    const done = this.#done(now), ratio = context.getTransform().a, figures = [];
    const { width, height } = context.canvas;
    let dots = null;
    for (const [kingdom, species, armed, first, end] of this.#groups) {
      const [id, own, isMonster] = frame.species[species], isPerson = kingdom > 0;
      const colour = isPerson ? kingdoms.get(kingdom)?.colour ?? "#dddddd" : own;
      const size = isPerson ? (armed ? 1.25 : 0.95) : isMonster ? (id === "dragon" ? 3.2 : 1.4) : 0.7;
      const side = Math.max(size * camera.scale * 0.78, isPerson ? 1.8 : 1.1);
      if (side >= FIGURES_FROM) figures.push([this.#sprite(colour, isPerson ? (armed ? "soldier" : "person") : isMonster ? "monster" : "beast", Math.min(Math.round(side * ratio), 64)), side * 1.5, first, end]);
      else this.#dots(dots ??= this.#cleared(width, height), width, height, camera, ratio, done, pixelOf(colour, isPerson || isMonster ? 255 : 190), Math.max(Math.round(side * ratio), 1), first, end);
    }
    dots ? context.putImageData(this.#image, 0, 0) : context.clearRect(0, 0, camera.width, camera.height);
    for (const group of figures) this.#figures(context, camera, done, ...group);
    return done < 1;
  }

  #cleared(width, height) {
    if (this.#image?.width !== width || this.#image.height !== height) {
      this.#image = new ImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    } else this.#pixels.fill(0);
    return this.#pixels;
  }

  /** Thousands of small squares are quicker as points of a picture than as drawings. */
  #dots(pixels, width, height, camera, ratio, done, pixel, side, first, end) {
    const { from, to } = this, scale = camera.scale * ratio, [zeroX, zeroY] = camera.pointOf(0.5, 0.5).map((place) => place * ratio - side / 2);
    for (let at = first; at < end; at++) {
      const across = Math.round(zeroX + (from[2 * at] + (to[2 * at] - from[2 * at]) * done) * scale);
      const down = Math.round(zeroY + (from[2 * at + 1] + (to[2 * at + 1] - from[2 * at + 1]) * done) * scale);
      if (across < 0 || down < 0 || across + side > width || down + side > height) continue;
      for (let row = down * width + across, left = side; left--; row += width) pixels.fill(pixel, row, row + side);
    }
  }

  #figures(context, camera, done, sprite, side, first, end) {
    const { from, to } = this, { scale } = camera, [left, top, right, bottom] = camera.window, [zeroX, zeroY] = camera.pointOf(0.5, 0.5);
    for (let at = first; at < end; at++) {
      const x = from[2 * at] + (to[2 * at] - from[2 * at]) * done, y = from[2 * at + 1] + (to[2 * at + 1] - from[2 * at + 1]) * done;
      if (x < left - 2 || y < top - 2 || x > right + 1 || y > bottom + 1) continue;
      context.drawImage(sprite, zeroX + x * scale - side / 2, zeroY + y * scale - side / 2, side, side);
    }
  }

  /** A small figure, drawn once. Its picture is half as large again as the figure, for the shadow. */
  #sprite(colour, kind, side) {
    const name = `${colour} ${kind} ${side}`;
    if (this.#sprites.has(name)) return this.#sprites.get(name);
    if (this.#sprites.size > 400) this.#sprites.clear();
    const canvas = document.createElement("canvas"), all = Math.ceil(side * 1.5), unit = side / 10;
    canvas.width = canvas.height = all;
    const context = canvas.getContext("2d");
    context.translate(all / 2, all / 2);
    context.scale(unit, unit);
    const disc = (x, y, wide, tall, fill) => {
      context.beginPath();
      context.ellipse(x, y, wide, tall, 0, 0, 7);
      context.fillStyle = fill;
      context.fill();
    };
    disc(0.6, 4.4, 4.4, 1.7, "rgba(0, 0, 0, .35)");
    context.strokeStyle = "rgba(12, 14, 22, .75)";
    context.lineWidth = 1;
    if (kind === "beast") {
      disc(0, 1, 4.4, 3, colour);
      context.stroke();
      disc(3.4, -1, 1.9, 1.8, colour);
      context.stroke();
    } else {
      context.beginPath();
      context.moveTo(-3.4, 4.6);
      context.quadraticCurveTo(-3.2, -1.4, 0, -1.4);
      context.quadraticCurveTo(3.2, -1.4, 3.4, 4.6);
      context.closePath();
      context.fillStyle = colour;
      context.fill();
      context.stroke();
      disc(0, -2.6, 2.3, 2.3, kind === "monster" ? "#2a1420" : "#f1cfa8");
      context.stroke();
      if (kind === "soldier") {
        context.beginPath();
        context.moveTo(4.2, 4.6);
        context.lineTo(4.2, -6);
        context.strokeStyle = "#f4f6fb";
        context.lineWidth = 1.1;
        context.stroke();
        disc(0, -3.4, 2.4, 1.5, "#c9d2de");
      }
    }
    this.#sprites.set(name, canvas);
    return canvas;
  }
}
