// A map of territories from a graph of neighbours: places that keep neighbours together, and the outline of each territory.

/** The place of each territory. `known`: places by name, used if it has all of them. */
function placesOf(graph, known = {}) {
  const names = Object.keys(graph);
  if (names.every((name) => Object.hasOwn(known, name))) return new Map(names.map((name) => [name, known[name]]));
  const steps = names.map((name) => stepsFrom(graph, names, name));
  const found = refined(steps, begun(steps));
  return new Map(names.map((name, i) => [name, found[i].map((place) => place * 10)]));
}

/** The number of borders from one territory to each; far apart where there is no way. */
function stepsFrom(graph, names, start) {
  const found = new Map([[start, 0]]), queue = [start];
  for (const name of queue) for (const next of graph[name]) if (!found.has(next)) { found.set(next, found.get(name) + 1); queue.push(next); }
  const far = Math.sqrt(names.length) + 2;
  return names.map((name) => found.get(name) ?? far);
}

/** The two main directions of the distances (classical scaling), by power iteration. */
function begun(steps) {
  const n = steps.length, squared = steps.map((row) => row.map((d) => d * d)), means = squared.map((row) => row.reduce((sum, d) => sum + d, 0) / n);
  const mean = means.reduce((sum, d) => sum + d, 0) / n, centred = squared.map((row, i) => row.map((d, j) => (means[i] + means[j] - mean - d) / 2));
  const found = [];
  for (const direction of [0, 1]) {
    let vector = steps.map((_, i) => Math.cos(i * (direction + 1.3)) + 0.01 * i), size = 0;
    for (let round = 0; round < 40; round += 1) {
      for (const other of found) { const share = dot(vector, other); vector = vector.map((value, i) => value - share * other[i]); }
      const next = centred.map((row) => dot(row, vector));
      size = Math.hypot(...next) || 1;
      vector = next.map((value) => value / size);
    }
    found.push(Object.assign(vector, { size }));
  }
  return steps.map((_, i) => found.map((vector) => vector[i] * Math.sqrt(vector.size)));
}

const dot = (one, other) => one.reduce((sum, value, i) => sum + value * other[i], 0);

/** Moved until distances on the map are those in borders, near ones above all. */
function refined(steps, places) {
  let now = places;
  for (let round = 0; round < 60; round += 1) {
    now = now.map(([x, y], i) => {
      let [sumX, sumY, all] = [0, 0, 0];
      for (const [j, [otherX, otherY]] of now.entries()) {
        if (i === j) continue;
        const [dx, dy] = [x - otherX, y - otherY], length = Math.hypot(dx, dy) || 0.01, weight = steps[i][j] ** -2;
        sumX += weight * (otherX + (steps[i][j] * dx) / length);
        sumY += weight * (otherY + (steps[i][j] * dy) / length);
        all += weight;
      }
      return all ? [sumX / all, sumY / all] : [x, y];
    });
  }
  return now;
}

/**
 * The outline of each territory: what is nearer to it than to any other, up to a coast. Neighbours that lie close touch;
 * between others there is water.
 */
function outlinesOf(graph, places, reach = 7.4, strait = 1.1) {
  const all = [...places];
  return new Map(all.map(([name, [x, y]], index) => {
    let outline = coast(x, y, reach, index);
    for (const [other, [otherX, otherY]] of all) {
      const [dx, dy] = [otherX - x, otherY - y], length = Math.hypot(dx, dy);
      if (other === name || length > 2 * reach + strait || !length) continue;
      outline = cut(outline, dx / length, dy / length, (x * dx + y * dy) / length + length / 2 - (graph[name].includes(other) ? 0 : strait));
    }
    return [name, outline];
  }));
}

/** A coast that is not quite round, the same each time. */
function coast(x, y, reach, index) {
  return Array.from({ length: 36 }, (_, i) => {
    const turn = (i / 36) * 2 * Math.PI, far = reach * (0.93 + 0.05 * Math.sin(3 * turn + index * 1.7) + 0.035 * Math.sin(7 * turn + index * 2.9));
    return [x + far * Math.cos(turn), y + far * Math.sin(turn)];
  });
}

/** The part of a convex outline on one side of a line: where `x * a + y * b` is at most `most`. */
function cut(outline, a, b, most) {
  return outline.flatMap(([x, y], i) => {
    const [nextX, nextY] = outline[(i + 1) % outline.length], here = x * a + y * b - most, there = nextX * a + nextY * b - most;
    const crossing = here < 0 !== there < 0 ? [[x + ((nextX - x) * here) / (here - there), y + ((nextY - y) * here) / (here - there)]] : [];
    return here <= 0 ? [[x, y], ...crossing] : crossing;
  });
}

/** Neighbours whose territories do not touch: they are connected by sea. */
function seaRoutes(graph, places, reach = 7.4) {
  return Object.entries(graph).flatMap(([name, neighbours]) => neighbours.filter((other) => name < other).map((other) => [name, other]))
    .filter(([one, other]) => Math.hypot(places.get(one)[0] - places.get(other)[0], places.get(one)[1] - places.get(other)[1]) > 1.75 * reach);
}
