// The land: layers of the scene as arrays of the whole map, and their picture, in pieces that are painted when they change.
const POINTS = 4; // on a side of a tile
const PIECES_PER_FRAME = 12;
const SEA = "#153f7c", SEA_OF_CHART = "#41555f"; // around the map
const ROUND = [2, 12, 6, -8, 12, 22, 4, -16, 4, 6, -12, -22, -8, -14, -20, -10];
const TUFTS = [0, 4, 0, -3, -3, 0, 3, 0, 0, -4, 0, 5, 3, 0, -5, 0];
const PEAK = [0, 10, -10, 0, 8, 16, -18, -6, 14, 8, -12, -20, 6, 2, -6, -12];
const ROOF = [22, 30, 26, 8, 14, 20, 14, -8, -4, -6, -10, -26, -46, -52, -56, -62];
const FURROWS = [12, 12, 12, 12, -12, -12, -12, -12, 12, 12, 12, 12, -12, -12, -12, -12];
const WAVES = [0, 3, 3, 0, 0, 0, 0, 0, -2, 0, 0, -2, 0, 0, 0, 0];
const FLAT = new Array(16).fill(0);
const GRAINS = {
  forest: ROUND, jungle: ROUND, taiga: ROUND, mushrooms: ROUND, crystal: ROUND, grass: TUFTS, savanna: TUFTS, swamp: TUFTS,
  flowers: TUFTS, wasteland: TUFTS, burnt: TUFTS, farmland: FURROWS, hills: PEAK, mountains: PEAK, summit: PEAK,
  deep_ocean: WAVES, close_ocean: WAVES, shallow_waters: WAVES, river: WAVES,
};

/** Unseen land is drawn as on an old chart, in these colours. */
const CHART = {
  deep_ocean: "#5d7a86", close_ocean: "#6d8b95", shallow_waters: "#84a1a6", river: "#7796a0", sand: "#cdbb8c", soil_low: "#b8a577",
  soil_high: "#ab976a", hills: "#978460", mountains: "#7d6d52", summit: "#d3cbb6", ice: "#b9c8c9",
};
const FOG = [22, 30, 50], FOG_NEVER = 96, FOG_KNOWN = 40; // the fog over what was never seen, and over what was seen before

const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const rgbOf = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const transposed = (grain) => grain.map((_, at) => grain[(at % 4) * 4 + (at >> 2)]);
const mirrored = (grain) => grain.map((_, at) => grain[(at & 12) + 3 - (at % 4)]);

class Land {
  #details = new Details();
  versions = new Map(); // of the pieces: how often each was painted
  #known = {}; // the layers that the arrays are made of
  #pieces = new Map(); // by place: its canvas
  #dirty = new Set();

  /** Take over what has changed. Returns whether anything did. */
  update(scene) {
    if (scene.frame !== this.frame) this.#begin(scene.frame);
    let changed = false, bordersChanged = false;
    for (const kind of ["cover", "level", "owner"]) {
      for (let down = 0; down < this.down; down++) {
        for (let across = 0; across < this.across; across++) {
          const place = `${across},${down}`, name = `${kind} ${place}`, layer = scene[name] ?? "";
          if (this.#known[name] === layer) continue;
          this.#known[name] = layer;
          this.#fill(this[kind], layer, across, down);
          changed = true;
          if (kind === "owner") bordersChanged = true;
          else this.#dirty.add(place);
        }
      }
    }
    const colours = scene.kingdoms.map(({ id, colour }) => `${id}${colour}`).join();
    const owners = String(scene.owners);
    if (owners !== this.#known.owners || colours !== this.#known.colours) bordersChanged = changed = true;
    Object.assign(this.#known, { owners, colours });
    if (changed || scene.explored !== this.explored) this.#veil(scene);
    if (bordersChanged) this.borders = tracedBorders(this, scene.owners);
    this.explored = scene.explored;
    return changed;
  }

  #begin(frame) {
    this.frame = frame;
    [this.width, this.height] = frame.size;
    [this.across, this.down] = frame.size.map((side) => Math.ceil(side / frame.chunk));
    for (const kind of ["cover", "level", "owner"]) this[kind] = new Uint8Array(this.width * this.height);
    this.points = Math.max(this.width, this.height) > 512 ? 2 : POINTS;
    this.isWater = new Uint8Array(frame.covers.length);
    for (const row of frame.water) this.isWater[row] = 1;
    this.colours = frame.covers.map(([, colour]) => rgbOf(colour));
    this.chartColours = frame.covers.map(([id, colour]) => rgbOf(CHART[id] ?? colour));
    this.grains = frame.covers.map(([id], row) => {
      const grain = row > frame.first_building ? ROOF : GRAINS[id] ?? FLAT;
      return grain === ROOF ? [grain] : grain === PEAK ? [grain, grain, transposed(grain), grain] : [grain, mirrored(grain), transposed(grain), grain];
    });
    this.fire = frame.covers.findIndex(([id]) => id === "fire");
    this.#known = {};
    this.#pieces.clear();
    this.veil = Object.assign(document.createElement("canvas"), { width: this.width, height: this.height });
  }

  #fill(layer, text, across, down) {
    const { chunk } = this.frame, cells = bytesOf(text), left = across * chunk;
    const wide = Math.min(chunk, this.width - left);
    for (let row = 0; row < Math.min(chunk, this.height - down * chunk); row++) {
      const start = (down * chunk + row) * this.width + left;
      text ? layer.set(cells.subarray(row * wide, (row + 1) * wide), start) : layer.fill(0, start, start + wide);
    }
  }

  /** What lies over the land: the fog, and a breath of the colour of each kingdom. One point for each tile. */
  #veil(scene) {
    const { width, height, cover, owner } = this, image = new ImageData(width, height), { data } = image;
    const colours = new Map(scene.kingdoms.map(({ id, colour }) => [id, rgbOf(colour)]));
    const bySlot = scene.owners.map((id) => colours.get(id));
    this.isChart = !scene.explored && cover.some((kind) => kind & this.frame.hidden); // no kingdom has seen a part of it: a chart of the land
    const known = exploredShare(scene.explored, width, height);
    for (let cell = 0, at = 0; cell < cover.length; cell++, at += 4) {
      if (cover[cell] & this.frame.hidden) {
        [data[at], data[at + 1], data[at + 2]] = FOG;
        data[at + 3] = this.isChart ? 0 : FOG_NEVER + (FOG_KNOWN - FOG_NEVER) * known(cell % width, Math.floor(cell / width));
      } else if (owner[cell]) {
        const colour = bySlot[owner[cell]];
        if (colour) [data[at], data[at + 1], data[at + 2], data[at + 3]] = [...colour, this.isWater[cover[cell]] ? 34 : 62];
      }
    }
    this.veil.getContext("2d").putImageData(image, 0, 0);
  }

  /** Paint some of the pieces that have changed. Returns whether others are left. */
  paint(window) {
    let left = PIECES_PER_FRAME;
    const { chunk } = this.frame;
    const far = (x, y) => x > window[2] || y > window[3] || x + chunk < window[0] || y + chunk < window[1];
    for (const place of this.#dirty) {
      const [across, down] = place.split(",").map(Number), [x, y] = [across * chunk, down * chunk];
      if (far(x, y) && this.#pieces.has(place)) continue; // later, if it is looked at
      if (!left--) return true;
      this.#dirty.delete(place);
      this.#paintPiece(place, x, y);
    }
    return false;
  }

  #paintPiece(place, left, top) {
    const { chunk, first_top: firstTop, hidden } = this.frame, { width, height, cover, level, points } = this;
    const [wide, tall] = [Math.min(chunk, width - left), Math.min(chunk, height - top)];
    const image = new ImageData(wide * points, tall * points), { data } = image, row = wide * points * 4;
    const lit = (x, y, own) => {
      const at = Math.min(Math.max(y, 0), height - 1) * width + Math.min(Math.max(x, 0), width - 1);
      return level[at] || own; // in the fog it is unknown: flat
    };
    for (let y = 0; y < tall; y++) {
      for (let x = 0; x < wide; x++) {
        const [mx, my] = [left + x, top + y], cell = my * width + mx, kind = cover[cell] & (hidden - 1), own = level[cell];
        const [red, green, blue] = (cover[cell] & hidden ? this.chartColours : this.colours)[kind] ?? [0, 0, 0];
        const chance = Math.imul(cell, 0x9e3779b1) >>> 16, water = this.isWater[kind];
        let light = (chance % 9) - 4;
        if (own) {
          const slope = (lit(mx + 1, my, own) + lit(mx, my + 1, own) + lit(mx + 1, my + 1, own) - lit(mx - 1, my, own) - lit(mx, my - 1, own) - lit(mx - 1, my - 1, own)) * 2;
          light += water ? slope / 4 + Math.min(own - 14, 12) : Math.min(Math.max(slope, -30), 30);
        }
        if (water && this.#touchesLand(mx, my, firstTop)) light += 22; // surf
        const grains = this.grains[kind] ?? [FLAT], grain = grains[chance % grains.length];
        for (let py = 0; py < points; py++) {
          for (let px = 0, at = (y * points + py) * row + x * points * 4; px < points; px++, at += 4) {
            const shade = light + (points === 4 ? grain[py * 4 + px] : grain[py * 8 + px * 2]);
            data[at] = red + shade; data[at + 1] = green + shade; data[at + 2] = blue + shade; data[at + 3] = 255;
          }
        }
      }
    }
    const piece = this.#pieces.get(place) ?? document.createElement("canvas");
    if (piece.width !== image.width || piece.height !== image.height) Object.assign(piece, { width: image.width, height: image.height });
    piece.getContext("2d").putImageData(image, 0, 0);
    this.#pieces.set(place, piece);
    this.versions.set(place, (this.versions.get(place) ?? 0) + 1);
  }

  #touchesLand(x, y) {
    const dry = (mx, my) => mx >= 0 && my >= 0 && mx < this.width && my < this.height && !this.isWater[this.cover[my * this.width + mx] & (this.frame.hidden - 1)];
    return dry(x - 1, y) || dry(x + 1, y) || dry(x, y - 1) || dry(x, y + 1);
  }

  /** Draw what the camera shows, on a context whose unit is a point of the screen. */
  draw(context, camera, kingdoms) {
    const sea = this.cover[0] & this.frame.hidden ? SEA_OF_CHART : SEA;
    context.fillStyle = sea;
    context.fillRect(0, 0, camera.width, camera.height);
    const { chunk } = this.frame, { scale } = camera, [left, top, right, bottom] = camera.window;
    context.imageSmoothingEnabled = true;
    for (const [place, piece] of this.#pieces) {
      const [across, down] = place.split(",").map(Number), [x, y] = [across * chunk, down * chunk];
      if (x > right || y > bottom || x + chunk < left || y + chunk < top) continue;
      const [from, to] = [camera.pointOf(x, y).map(Math.floor), camera.pointOf(x + piece.width / this.points, y + piece.height / this.points).map(Math.floor)];
      context.drawImage(piece, from[0], from[1], to[0] - from[0], to[1] - from[1]);
    }
    context.save();
    context.translate(...camera.pointOf(0, 0));
    context.scale(scale, scale);
    context.drawImage(this.veil, 0, 0);
    this.#fadeOut(context, sea);
    context.lineJoin = context.lineCap = "round";
    for (const [kingdom, path] of this.borders ?? []) {
      context.strokeStyle = "rgba(10, 12, 20, .5)";
      context.lineWidth = Math.min(4.2, 1.6 + scale / 3) / scale;
      context.stroke(path);
      context.strokeStyle = kingdoms.get(kingdom)?.colour ?? "#888";
      context.lineWidth = Math.min(2.6, 0.9 + scale / 5) / scale;
      context.stroke(path);
    }
    context.restore();
    this.#details.draw(context, camera, this);
  }

  /** The edges of the map pass into the sea around it. */
  #fadeOut(context, sea) {
    const { width, height } = this, wide = 5;
    for (const [from, to] of [[[0, 0], [wide, 0]], [[width, 0], [width - wide, 0]], [[0, 0], [0, wide]], [[0, height], [0, height - wide]]]) {
      const fade = context.createLinearGradient(...from, ...to);
      fade.addColorStop(0, sea);
      fade.addColorStop(1, `${sea}00`);
      context.fillStyle = fade;
      const isUpright = from[0] !== to[0];
      context.fillRect(Math.min(from[0], to[0]) - 0.5, Math.min(from[1], to[1]) - 0.5, (isUpright ? wide : width) + 1, (isUpright ? height : wide) + 1);
    }
  }

  /** The whole map, small: what has been painted, and the veil. */
  drawSmall(context, wide, tall) {
    context.save();
    context.scale(wide / this.width, tall / this.height);
    for (const [place, piece] of this.#pieces) {
      const [across, down] = place.split(",").map(Number), { chunk } = this.frame;
      context.drawImage(piece, across * chunk, down * chunk, piece.width / this.points, piece.height / this.points);
    }
    context.drawImage(this.veil, 0, 0);
    context.restore();
  }

  coverAt(x, y) {
    const cell = y * this.width + x;
    return { id: this.frame.covers[this.cover[cell] & (this.frame.hidden - 1)]?.[0] ?? "", hidden: Boolean(this.cover[cell] & this.frame.hidden), owner: this.owner[cell] };
  }

  isWaterAt(x, y) {
    return Boolean(this.isWater[this.cover[y * this.width + x] & (this.frame.hidden - 1)]);
  }
}

/** How much of what is around a tile was seen at some time, from 0 to 1: a function of its place. */
function exploredShare(explored, width, height) {
  if (!explored) return () => 0;
  const cells = bytesOf(explored.cells), { across } = explored, down = cells.length / across;
  const at = (x, y) => cells[Math.min(Math.max(y, 0), down - 1) * across + Math.min(Math.max(x, 0), across - 1)];
  return (x, y) => {
    const bx = ((x + 0.5) / width) * across - 0.5, by = ((y + 0.5) / height) * down - 0.5, left = Math.floor(bx), top = Math.floor(by);
    const [dx, dy] = [bx - left, by - top];
    return (at(left, top) * (1 - dx) + at(left + 1, top) * dx) * (1 - dy) + (at(left, top + 1) * (1 - dx) + at(left + 1, top + 1) * dx) * dy;
  };
}

/** The borders of each kingdom as rounded paths, in tiles: [kingdom, path]. There is none where the fog begins. */
function tracedBorders({ width, height, owner, cover, frame }, owners) {
  const next = owners.map(() => new Map()); // by slot: the sides that begin at a corner
  const side = (slot, from, to, known) => {
    const sides = next[slot].get(from);
    sides ? sides.push([to, known]) : next[slot].set(from, [[to, known]]);
  };
  const wide = width + 1;
  const look = (x, y, slot) => { // a side is drawn where another owner, or nobody, is beyond it; null: no side
    if (x < 0 || y < 0 || x >= width || y >= height) return false;
    const cell = y * width + x;
    return owner[cell] === slot ? null : !(cover[cell] & frame.hidden);
  };
  for (let y = 0, cell = 0; y < height; y++) {
    for (let x = 0; x < width; x++, cell++) {
      const slot = owner[cell];
      if (!slot) continue;
      const corner = y * wide + x;
      let known = look(x, y - 1, slot);
      if (known !== null) side(slot, corner, corner + 1, known);
      known = look(x + 1, y, slot);
      if (known !== null) side(slot, corner + 1, corner + wide + 1, known);
      known = look(x, y + 1, slot);
      if (known !== null) side(slot, corner + wide + 1, corner + wide, known);
      known = look(x - 1, y, slot);
      if (known !== null) side(slot, corner + wide, corner, known);
    }
  }
  return owners.map((kingdom, slot) => [kingdom, joined(next[slot], wide)]).filter(([kingdom]) => kingdom);
}

function joined(next, wide) {
  const path = new Path2D(), x = (corner) => corner % wide, y = (corner) => Math.floor(corner / wide);
  for (const [start] of next) {
    while (next.get(start)?.length) {
      const loop = [];
      for (let corner = start; next.get(corner)?.length;) {
        const [to, known] = next.get(corner).pop();
        loop.push([corner, to, known]);
        corner = to;
        if (corner === start) break;
      }
      for (let number = 0, isDown = false; number < loop.length; number++) {
        const [from, to, known] = loop[number], [, then, thenKnown] = loop[(number + 1) % loop.length];
        if (!known || !thenKnown) {
          isDown = false;
          continue;
        }
        if (!isDown) path.moveTo((x(from) + x(to)) / 2, (y(from) + y(to)) / 2);
        path.quadraticCurveTo(x(to), y(to), (x(to) + x(then)) / 2, (y(to) + y(then)) / 2);
        isDown = true;
      }
    }
  }
  return path;
}
