// Small charts as SVG, each with its numbers as a table for those who do not look at it.
function h(tag, properties = {}, ...children) {
  const { data = {}, ...others } = properties, element = Object.assign(document.createElement(tag), others);
  for (const [name, value] of Object.entries(data)) element.dataset[name] = value;
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function numberTable(caption, columns, rows) {
  return h("table", { className: "unseen" }, h("caption", {}, caption),
    h("thead", {}, h("tr", {}, h("td"), ...columns.map((name) => h("th", { scope: "col" }, String(name))))),
    h("tbody", {}, ...rows.map(([name, ...values]) => h("tr", {}, h("th", { scope: "row" }, name), ...values.map((value) => h("td", {}, value === null || value === undefined ? "unknown" : String(value)))))));
}

/**
 * Lines over time. `series`: [{ name, colour, values }], each value a number or null; `labels`: one for each value. The names
 * stand at the ends of the lines where there is space.
 */
function lineChart({ title, labels, series, width = 320, height = 150, least = 0 }) {
  const [left, right, top, bottom] = [34, 78, 8, 18];
  const values = series.flatMap((one) => one.values).filter((value) => value !== null && value !== undefined);
  const low = Math.min(least, ...values), high = Math.max(low + 2, ...values);
  const x = (i) => left + (labels.length < 2 ? 0 : (i / (labels.length - 1)) * (width - left - right));
  const y = (value) => top + (1 - (value - low) / (high - low)) * (height - top - bottom);
  const grid = [low, (low + high) / 2, high].map((value) => svg("g", { class: "grid" },
    svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value) }), svg("text", { x: left - 4, y: y(value) + 3, "text-anchor": "end" }, shortNumber(value))));
  const ends = placedEnds(series.map((one) => ({ ...one, last: one.values.findLastIndex((value) => value !== null && value !== undefined) })).filter(({ last }) => last >= 0)
    .map((one) => ({ ...one, y: y(one.values[one.last]) })), top, height - bottom);
  const lines = series.map(({ colour, values: numbers, isMine }) => svg("path", { d: pathOf(numbers, x, y), class: "line", stroke: colour, "data-mine": isMine ? "" : null }));
  const dots = ends.map(({ colour, values: numbers, last }) => svg("circle", { cx: x(last), cy: y(numbers[last]), r: 2.5, fill: colour }));
  const names = ends.map(({ name, colour, last, at, y: from }) => svg("g", {}, svg("path", { d: `M${x(last) + 3} ${from}L${width - right + 8} ${at}`, class: "lead" }),
    svg("rect", { x: width - right + 9, y: at - 3.5, width: 7, height: 7, rx: 2, fill: colour }), svg("text", { x: width - right + 19, y: at + 3, class: "end" }, name.length > 10 ? `${name.slice(0, 9)}…` : name)));
  const first = labels.length ? [0, labels.length - 1].map((i) => svg("text", { x: x(i), y: height - 4, "text-anchor": i ? "end" : "start", class: "axis" }, labels[i])) : [];
  const image = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": `${title}: a chart; its numbers are in a table.` }, grid, lines, dots, names, labels.length > 1 ? first : first.slice(0, 1));
  return h("figure", { className: "chart-box" }, h("figcaption", {}, title), image, numberTable(title, labels, series.map(({ name, values: numbers }) => [name, ...numbers])));
}

/** Labels at the ends of lines, moved apart so that none covers another. */
function placedEnds(ends, top, bottom) {
  const step = Math.min(11, (bottom - top) / Math.max(ends.length - 1, 1)), sorted = [...ends].sort((one, other) => one.y - other.y);
  let at = -Infinity;
  for (const end of sorted) at = end.at = Math.max(end.y, at + step);
  for (let i = sorted.length - 1, most = bottom; i >= 0; i -= 1, most -= step) sorted[i].at = Math.min(sorted[i].at, most);
  return sorted;
}

function pathOf(values, x, y) {
  let isDrawing = false;
  return values.map((value, i) => {
    if (value === null || value === undefined) { isDrawing = false; return ""; }
    const step = `${isDrawing ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    isDrawing = true;
    return step;
  }).join("");
}

const shortNumber = (value) => (Math.abs(value) >= 10_000 ? `${Math.round(value / 1000)}k` : Number.isInteger(value) || Math.abs(value) >= 20 ? String(Math.round(value)) : value.toFixed(1));

/** A wheel: `axes`: [{ name, value }], values from 0 to `most`. */
function radarChart({ title, axes, most = 1, size = 300, write = (value) => String(value) }) {
  const [middle, radius] = [size / 2, size / 2 - 46];
  const at = (i, part) => { const turn = (i / axes.length) * 2 * Math.PI; return [middle + Math.sin(turn) * radius * part, middle - Math.cos(turn) * radius * part]; };
  const ring = (part) => svg("polygon", { class: "ring", points: axes.map((_, i) => at(i, part).map((n) => n.toFixed(1)).join(",")).join(" ") });
  const spokes = axes.map((_, i) => { const [x, y] = at(i, 1); return svg("line", { class: "ring", x1: middle, y1: middle, x2: x, y2: y }); });
  const shape = axes.map(({ value }, i) => at(i, Math.max(value / most, 0.02)).map((n) => n.toFixed(1)).join(",")).join(" ");
  const names = axes.map(({ name, value }, i) => {
    const [x, y] = at(i, 1.1), side = Math.abs(x - middle) < 6 ? "middle" : x > middle ? "start" : "end";
    const parts = name.split(" "), up = y < middle - radius * 0.9 ? 1.1 * parts.length : y > middle + radius * 0.7 ? -0.6 : 0.4 * parts.length;
    return svg("text", { x, y, "text-anchor": side }, parts.map((part, line) => svg("tspan", { x, dy: line ? "1.1em" : `${-up}em` }, part)), svg("tspan", { x, dy: "1.15em", class: "value" }, write(value)));
  });
  const image = svg("svg", { viewBox: `-30 -6 ${size + 60} ${size + 18}`, class: "radar", role: "img", "aria-label": `${title}: a wheel; its numbers are in a table.` },
    [0.25, 0.5, 0.75, 1].map(ring), spokes, svg("polygon", { class: "shape", points: shape }), axes.map(({ value }, i) => { const [x, y] = at(i, Math.max(value / most, 0.02)); return svg("circle", { class: "point", cx: x, cy: y, r: 3 }); }), names);
  return h("figure", { className: "chart-box" }, image, numberTable(title, ["level"], axes.map(({ name, value }) => [name, write(value)])));
}
