// A small chart of one number of each kingdom over time, as SVG.
const SVG = document.querySelector("svg").namespaceURI; // of a drawing in the document: no address stands in a script

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The samples of a scene: [tick, kingdom id → [people, soldiers]]. */
function historyOf(scene) {
  return Object.keys(scene).filter((name) => name.startsWith("history ")).sort((a, b) => a.slice(8) - b.slice(8))
    .flatMap((name) => scene[name]).map(([tick, kingdoms]) => [tick, new Map(kingdoms.map(([id, ...numbers]) => [id, numbers]))]);
}

/** `lines`: [{name, colour, points: [[x, y]]}]. `title` says what is drawn. */
function lineChart(title, lines, words) {
  const [wide, tall, left, foot] = [300, 120, 30, 16];
  const all = lines.flatMap(({ points }) => points), most = Math.max(1, ...all.map(([, y]) => y));
  const [start, end] = [Math.min(...all.map(([x]) => x)), Math.max(...all.map(([x]) => x))];
  const across = (x) => left + ((x - start) / Math.max(end - start, 1)) * (wide - left - 4);
  const down = (y) => 6 + (1 - y / most) * (tall - foot - 6);
  const chart = svg("svg", { viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": title, class: "chart" });
  for (const share of [0, 0.5, 1]) {
    const y = down(most * share);
    chart.append(svg("line", { x1: left, x2: wide - 4, y1: y, y2: y, class: "rule" }));
    chart.append(svg("text", { x: left - 4, y: y + 3, "text-anchor": "end" }, String(Math.round(most * share))));
  }
  for (const { colour, points, own } of lines) {
    const path = points.map(([x, y], number) => `${number ? "L" : "M"}${across(x).toFixed(1)} ${down(y).toFixed(1)}`).join("");
    chart.append(svg("path", { d: path, class: "under" }), svg("path", { d: path, stroke: colour, "stroke-width": own ? 3 : 2, fill: "none" }));
  }
  for (const [x, anchor] of [[start, "start"], [end, "end"]]) chart.append(svg("text", { x: across(x), y: tall - 3, "text-anchor": anchor }, words(x)));
  return chart;
}
