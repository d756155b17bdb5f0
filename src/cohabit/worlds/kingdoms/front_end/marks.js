// What is drawn over land and creatures at any zoom with the same size: cities, armies, roads of march, sieges, names.
const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";
const SERIF = "'Iowan Old Style', 'Palatino Linotype', Palatino, Georgia, serif";
const INK = "rgba(10, 12, 20, .85)";

const isPale = (colour) => {
  const [red, green, blue] = rgbOf(colour);
  return red * 0.3 + green * 0.59 + blue * 0.11 > 150;
};
const cityRadius = (city) => 5 + Math.min(Math.sqrt(city.people ?? 30) / 2.4, 6) + (city.capital ? 1.5 : 0);

/** Places on the screen that are taken, so that no name covers another. */
class Room {
  #taken = [];
  take(left, top, right, bottom, force = false) {
    const free = !this.#taken.some((other) => left < other[2] && right > other[0] && top < other[3] && bottom > other[1]);
    if (free || force) this.#taken.push([left, top, right, bottom]);
    return free;
  }
}

class Marks {
  /** Draw them. `chosen`: what is chosen; `cursor`: the tile of the keyboard, or null. */
  draw(context, camera, scene, kingdoms, { chosen, cursor, mine }) {
    Object.assign(this, { context, camera, kingdoms });
    const room = new Room();
    for (const [kind, x, y] of scene.storms) this.#storm(kind, x, y);
    for (const march of scene.marches) this.#road(march, scene);
    for (const city of scene.cities) this.#city(city, room);
    for (const army of scene.armies) this.#army(army, room);
    this.#names(scene, room, mine);
    if (chosen) this.#ring(chosen);
    if (cursor) this.#cursor(cursor);
  }

  #colour(kingdom) {
    return this.kingdoms.get(kingdom)?.colour ?? "#999";
  }

  #visible(across, down, margin = 30) {
    return across > -margin && down > -margin && across < this.camera.width + margin && down < this.camera.height + margin;
  }

  #point({ x, y }) {
    return this.camera.pointOf(x + 0.5, y + 0.5);
  }

  #city(city, room) {
    const { context } = this, [across, down] = this.#point(city);
    if (!this.#visible(across, down)) return;
    const radius = cityRadius(city), colour = this.#colour(city.kingdom);
    if (city.besieger) this.#siege(city, across, down, radius + 5);
    context.beginPath();
    if (city.capital) { // a shield for the capital, a disc for others
      context.moveTo(across - radius, down - radius);
      context.lineTo(across + radius, down - radius);
      context.lineTo(across + radius, down + radius * 0.25);
      context.quadraticCurveTo(across + radius * 0.8, down + radius, across, down + radius * 1.4);
      context.quadraticCurveTo(across - radius * 0.8, down + radius, across - radius, down + radius * 0.25);
      context.closePath();
    } else context.arc(across, down, radius, 0, 7);
    context.fillStyle = colour;
    context.lineWidth = 5;
    context.strokeStyle = "rgba(10, 12, 20, .45)";
    context.stroke();
    context.fill();
    context.lineWidth = 2;
    context.strokeStyle = isPale(colour) ? "#2a2a33" : "#fff";
    context.stroke();
    context.fillStyle = context.strokeStyle;
    if (city.capital) this.#crown(across, down, radius);
    else {
      context.beginPath();
      context.arc(across, down, Math.max(1.6, radius / 4), 0, 7);
      context.fill();
    }
    room.take(across - radius - 2, down - radius - 2, across + radius + 2, down + radius + 2, true);
  }

  #crown(across, down, radius) {
    const { context } = this, unit = radius / 8;
    context.beginPath();
    for (const [x, y] of [[-5, 4], [-5.5, -3], [-2.5, 0], [0, -4.5], [2.5, 0], [5.5, -3], [5, 4]]) context.lineTo(across + x * unit, down + y * unit);
    context.closePath();
    context.fill();
  }

  #siege({ besieger, siege }, across, down, radius) {
    const { context } = this;
    context.lineWidth = 4;
    context.strokeStyle = "rgba(10, 12, 20, .6)";
    context.beginPath();
    context.arc(across, down, radius, 0, 7);
    context.stroke();
    context.strokeStyle = "#ff5a3c";
    context.beginPath();
    context.arc(across, down, radius, -Math.PI / 2, -Math.PI / 2 + (Math.PI * 2 * Math.max(siege, 4)) / 100);
    context.stroke();
    const [x, y] = [across + radius * 0.9, down - radius * 0.9];
    context.fillStyle = this.#colour(besieger);
    context.beginPath();
    context.arc(x, y, 7.5, 0, 7);
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = "#fff";
    context.stroke();
    context.lineWidth = 1.8;
    for (const way of [1, -1]) { // crossed swords
      context.beginPath();
      context.moveTo(x - 3.6 * way, y + 3.6);
      context.lineTo(x + 3.6 * way, y - 3.6);
      context.moveTo(x - 3.6 * way, y + 0.8);
      context.lineTo(x - 0.8 * way, y + 3.6);
      context.stroke();
    }
  }

  #army(army, room) {
    const { context } = this, [across, down] = this.#point(army);
    if (!this.#visible(across, down)) return;
    const colour = this.#colour(army.kingdom), size = String(army.soldiers);
    context.font = `700 11px ${FONT}`;
    const wide = Math.max(17, context.measureText(size).width + 9), [left, top] = [across, down - 25];
    if (!room.take(left - 2, top - 1, left + wide, top + 16) && army.soldiers < 8) return;
    context.strokeStyle = INK;
    context.lineWidth = 3.4;
    context.beginPath();
    context.moveTo(across, down + 1);
    context.lineTo(across, top - 2);
    context.stroke();
    context.strokeStyle = "#f4ead2";
    context.lineWidth = 1.6;
    context.stroke();
    context.beginPath(); // a flag with a notch
    context.moveTo(left, top);
    context.lineTo(left + wide + 5, top);
    context.lineTo(left + wide + 1, top + 7.5);
    context.lineTo(left + wide + 5, top + 15);
    context.lineTo(left, top + 15);
    context.closePath();
    context.fillStyle = colour;
    context.fill();
    context.strokeStyle = INK;
    context.lineWidth = 1.2;
    context.stroke();
    context.fillStyle = isPale(colour) ? "#15161c" : "#fff";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(size, left + wide / 2, top + 8);
  }

  #road({ kingdom, x, y, kind }, scene) {
    const { context } = this, to = this.camera.pointOf(x + 0.5, y + 0.5), colour = this.#colour(kingdom);
    const own = scene.armies.filter((army) => army.kingdom === kingdom).sort((a, b) => b.soldiers - a.soldiers);
    const home = scene.cities.filter((city) => city.kingdom === kingdom).sort((a, b) => Math.hypot(a.x - x, a.y - y) - Math.hypot(b.x - x, b.y - y));
    const starts = kind === "settle" || !own.length ? home.slice(0, 1) : own.slice(0, 3);
    for (const start of starts) {
      const from = this.#point(start), far = Math.hypot(to[0] - from[0], to[1] - from[1]);
      if (far < 14) continue;
      const bend = Math.min(far * 0.14, 40), middle = [(from[0] + to[0]) / 2 + ((to[1] - from[1]) / far) * bend, (from[1] + to[1]) / 2 - ((to[0] - from[0]) / far) * bend];
      context.beginPath();
      context.moveTo(...from);
      context.quadraticCurveTo(...middle, ...to);
      context.lineCap = "round";
      context.setLineDash([7, 7]);
      context.lineWidth = 5;
      context.strokeStyle = "rgba(10, 12, 20, .55)";
      context.stroke();
      context.lineWidth = 2.6;
      context.strokeStyle = kind === "settle" ? "#fff" : colour;
      context.stroke();
      context.setLineDash([]);
      this.#arrow(middle, to, kind === "settle" ? "#fff" : colour);
    }
    if (kind !== "attack") this.#goal(to, kind, colour);
  }

  #arrow(from, [x, y], colour) {
    const { context } = this, angle = Math.atan2(y - from[1], x - from[0]);
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.translate(-12, 0);
    context.beginPath();
    for (const [across, down] of [[8, 0], [-5, -6.5], [-2, 0], [-5, 6.5]]) context.lineTo(across, down);
    context.closePath();
    context.fillStyle = colour;
    context.strokeStyle = INK;
    context.lineWidth = 1.4;
    context.fill();
    context.stroke();
    context.restore();
  }

  #goal([x, y], kind, colour) { // a tent of settlers, or the ring where an army gathers
    const { context } = this;
    context.strokeStyle = INK;
    context.lineWidth = 1.4;
    context.beginPath();
    if (kind === "settle") for (const [across, down] of [[-9, 6], [0, -9], [9, 6]]) context.lineTo(x + across, y + down);
    else context.arc(x, y, 6, 0, 7);
    context.closePath();
    context.fillStyle = kind === "settle" ? "#f4ead2" : colour;
    context.fill();
    context.stroke();
  }

  #storm(kind, x, y) {
    const { context } = this, [across, down] = this.camera.pointOf(x + 0.5, y + 0.5);
    if (!this.#visible(across, down, 80)) return;
    const colours = { cloud_rain: "70, 92, 130", cloud_snow: "235, 240, 250", cloud_storm: "50, 54, 78", cloud_acid: "120, 170, 60", cloud_fire: "220, 90, 30", tornado: "130, 130, 140", volcano: "200, 60, 20" };
    const radius = Math.max(14, 4.5 * this.camera.scale);
    for (const [dx, dy, size] of [[-0.5, 0.1, 0.7], [0.45, 0.15, 0.65], [0, -0.25, 0.8]]) {
      const [cx, cy] = [across + dx * radius, down + dy * radius];
      const glow = context.createRadialGradient(cx, cy, 0, cx, cy, radius * size);
      glow.addColorStop(0, `rgba(${colours[kind] ?? "90, 90, 100"}, .75)`);
      glow.addColorStop(1, `rgba(${colours[kind] ?? "90, 90, 100"}, 0)`);
      context.fillStyle = glow;
      context.fillRect(cx - radius, cy - radius, 2 * radius, 2 * radius);
    }
  }

  // -- names --------------------------------------------------------------------------------------
  #names(scene, room, mine) {
    const { camera } = this;
    const far = camera.scale < 3 * camera.least && camera.scale < 9;
    if (far) for (const [id, kingdom] of this.kingdoms) this.#kingdomName(scene, id, kingdom, room);
    const weight = (city) => (city.besieger ? 4_000 : 0) + (city.capital ? 2_000 : 0) + (city.kingdom === mine ? 1_000 : 0) + (city.people ?? 0);
    for (const city of [...scene.cities].sort((a, b) => weight(b) - weight(a))) this.#cityName(city, room);
  }

  #kingdomName(scene, id, kingdom, room) {
    const own = scene.cities.filter((city) => city.kingdom === id);
    if (!own.length) return;
    const { context, camera } = this, name = kingdom.name.toUpperCase();
    const middle = (axis) => own.reduce((sum, city) => sum + city[axis], 0) / own.length;
    const spread = Math.max(...own.map((city) => city.x)) - Math.min(...own.map((city) => city.x)) + 24;
    const size = Math.min(Math.max((spread * camera.scale) / name.length / 0.95, 13), camera.width < 600 ? 17 : 26);
    const [across, down] = camera.pointOf(middle("x"), middle("y"));
    context.font = `700 ${size}px ${SERIF}`;
    context.letterSpacing = `${size * 0.22}px`;
    const half = context.measureText(name).width / 2;
    const free = ([x, y]) => x - half > 2 && x + half < camera.width - 2 && y > size && y < camera.height - size / 2 && room.take(x - half, y - size * 0.5, x + half, y + size * 0.5);
    const place = [0, -0.5, 0.5, -1, 1].flatMap((dx) => [0, -1.2, 1.3, -2.2, 2.3, -3.3, 3.4].map((dy) => [across + dx * half, down + dy * size])).find(free);
    if (place) {
      context.textAlign = "center";
      this.#written(name, place[0] + size * 0.11, place[1], "#fffdf4", size / 5, kingdom.colour);
    }
    context.letterSpacing = "0px";
  }

  #cityName(city, room) {
    const { context, camera } = this, [across, down] = this.#point(city);
    if (!this.#visible(across, down)) return;
    const size = camera.scale > 8 ? 14 : city.capital ? 12.5 : 11.5, radius = cityRadius(city) + 2;
    const text = camera.scale > 6 && city.people !== undefined ? `${city.name}  ${city.people}` : city.name;
    context.font = `${city.capital ? 700 : 600} ${size}px ${FONT}`;
    const wide = context.measureText(text).width + 4;
    const places = [["center", 0, radius + size * 0.75], ["center", 0, -radius - size * 0.65], ["left", radius + 3, 0], ["right", -radius - 3, 0]];
    for (const [align, dx, dy] of places) {
      const left = align === "center" ? across - wide / 2 : align === "left" ? across + dx : across + dx - wide, y = down + dy;
      if (!room.take(left, y - size * 0.62, left + wide, y + size * 0.62)) continue;
      context.textAlign = "left";
      this.#written(text, left + 2, y, "#fff", 3);
      return;
    }
  }

  #written(text, across, down, colour, outline, under = "") {
    const { context } = this;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.strokeStyle = "rgba(12, 14, 24, .82)";
    context.lineWidth = outline;
    context.strokeText(text, across, down);
    context.fillStyle = colour;
    context.fillText(text, across, down);
    if (!under) return;
    const half = context.measureText(text).width / 2;
    context.fillStyle = under;
    context.fillRect(across - half, down + outline * 3.1, 2 * half - outline, 2);
  }

  #ring(chosen) {
    const { context } = this, [across, down] = this.#point(chosen), radius = chosen.radius ?? 11;
    for (const [wide, colour] of [[5, INK], [2.4, "#fff"]]) {
      context.lineWidth = wide;
      context.strokeStyle = colour;
      context.beginPath();
      context.arc(across, down, radius, 0, 7);
      context.stroke();
    }
  }

  #cursor({ x, y }) {
    const { context, camera } = this, [across, down] = camera.pointOf(x, y), side = Math.max(camera.scale, 12);
    const shift = (camera.scale - side) / 2;
    for (const [wide, colour] of [[4, INK], [2, "#ffe27a"]]) {
      context.lineWidth = wide;
      context.strokeStyle = colour;
      context.strokeRect(across + shift, down + shift, side, side);
    }
  }
}
