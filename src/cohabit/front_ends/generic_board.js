// Draws the boards of a view, and lets a person choose moves on them.
let chosen = null; // the cell from which the next move begins

/** One figure for each board. `onCells`: the moves on each board, as [choice, place]. `pick(choices)`: one of them is wanted. */
function drawBoards(boards, movesOn, legend, pick, open) {
  keyed($("boards"), boards.map((board, i) => [`${i} ${board.rows.length}x${board.rows[0].length} ${board.slant}`, { board, moves: movesOn[i] }]), makeBoard, (figure, { board, moves }) => {
    figure.shown = { board, moves, pick, open };
    drawBoard(figure, legend);
  });
}

function makeBoard({ board }) {
  const [height, width] = [board.rows.length, board.rows[0].length];
  const cells = Array.from({ length: height * width }, (_, i) => h("button", { class: "cell", type: "button", tabindex: -1, "data-odd": (i + Math.floor(i / width) * (width % 2 ? 0 : 1)) % 2 === 1 }, h("span")));
  const grid = h("div", { class: "grid" }, board.rows.map((_, row) => h("div", { class: "line" }, cells.slice(row * width, (row + 1) * width))));
  const frame = h("div", { class: `board${board.slant ? " slanted" : ""}`, role: "group" }, h("div", { class: "rows", "aria-hidden": "true" }), grid, h("div", { class: "columns", "aria-hidden": "true" }));
  if (board.slant) grid.querySelectorAll(".line").forEach((line, row) => { line.style.transform = `translateX(${(row * 100) / (2 * width)}%)`; });
  frame.style.setProperty("--columns", width);
  frame.style.setProperty("--rows", height);
  if (Math.max(height, width) <= 4) frame.dataset.size = "small";
  const figure = h("figure", {}, h("figcaption"), frame);
  Object.assign(figure, { cells, grid, frame, marks: null });
  cells.forEach((cell, i) => { cell.onclick = () => press(figure, i); });
  grid.addEventListener("keydown", (event) => moveFocus(event, figure, width));
  return figure;
}

function drawBoard(figure, legend) {
  const { board, moves, open } = figure.shown, { cells, frame, grid } = figure;
  const marks = board.rows.flat(), style = styleOf(board, legend), width = board.rows[0].length;
  setText(figure.firstChild, board.title);
  figure.firstChild.hidden = !board.title;
  frame.setAttribute("aria-label", `${board.title || "Board"}, ${board.rows.length} rows, ${width} columns`);
  frame.classList.toggle("named", Boolean(board.rowNames || board.columnNames) && !board.slant);
  for (const [part, names] of [[".rows", board.rowNames], [".columns", board.columnNames]]) {
    const all = names ?? [];
    keyed(frame.querySelector(part), all.map((name, i) => [i, name]), () => h("span"), setText);
  }
  grid.dataset.kind = style.kind;
  const goesFrom = moves.some(([, { from }]) => from !== undefined);
  if (goesFrom && style.kind === "stones") grid.dataset.checkered = ""; // pieces that move: checkers, not Go
  if (chosen !== null && !moves.some(([, { from }]) => from === chosen)) chosen = null;
  frame.toggleAttribute("data-many", !goesFrom && moves.length > 9 && style.kind !== "ground");
  cells.forEach((cell, i) => drawCell(cell, i, lookOf(marks[i], style), board, {
    can: canStart(moves, i, width), isOpen: Boolean(open), target: chosen !== null && moves.some(([, place]) => place.from === chosen && place.to === i),
    isChosen: chosen === i, isNew: figure.marks !== null && figure.marks[i] !== marks[i] && style.kind !== "ground",
  }));
  if (figure.marks?.join() !== marks.join() || figure.marks === null) figure.marks = marks;
  if (!cells.some((cell) => cell.tabIndex === 0)) (cells.find((cell) => !cell.disabled) ?? cells[0]).tabIndex = 0;
}

const canStart = (moves, i, width) => moves.some(([, { from, to, column }]) => (from !== undefined ? from === i : column !== undefined ? i % width === column : to === i));

function drawCell(cell, i, { text, look, hue, name }, board, { can, isOpen, target, isChosen, isNew }) {
  const width = board.rows[0].length, span = cell.firstChild;
  setText(span, text);
  set(span, "class", look.includes(" ") ? look : null);
  set(cell, "data-look", look);
  cell.style.setProperty("--hue", hue ?? 0);
  cell.style.setProperty("--letters", Math.max(2, text.length));
  set(cell, "data-can", can && chosen === null);
  set(cell, "data-target", target);
  set(cell, "data-chosen", isChosen);
  set(cell, "data-new", isNew);
  cell.disabled = !(can || isOpen || target);
  set(cell, "aria-label", `${cellName(i, board, width)}, ${name}`);
  set(cell, "aria-pressed", isChosen ? "true" : null);
}

function cellName(i, { rowNames, columnNames }, width) {
  const [row, column] = [Math.floor(i / width), i % width];
  if (columnNames && rowNames && /[a-z]/i.test(columnNames[column])) return `${columnNames[column]}${rowNames[row]}`;
  return `row ${rowNames?.[row] ?? row + 1} column ${columnNames?.[column] ?? column + 1}`;
}

/** A cell was clicked: begin a move there, finish the one that was begun, or ask which move is meant. */
function press(figure, i) {
  const { board, moves, pick, open } = figure.shown, width = board.rows[0].length;
  const ending = chosen === null ? [] : moves.filter(([, { from, to }]) => from === chosen && to === i);
  if (ending.length) {
    chosen = null;
    return pick(ending.map(([choice]) => choice));
  }
  if (moves.some(([, { from }]) => from === i)) chosen = chosen === i ? null : i;
  else {
    chosen = null;
    const direct = moves.filter(([, { from, to, column }]) => from === undefined && (column !== undefined ? column === i % width : to === i));
    if (direct.length) return pick(direct.map(([choice]) => choice));
    if (open) return pick([open(i, board)]);
  }
  drawAgain();
}

function moveFocus(event, { cells }, width) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width }[event.key];
  const at = cells.indexOf(document.activeElement);
  if (!step || at < 0) return;
  event.preventDefault(); // so that the page does not take it as a key of the world
  for (let next = at + step; next >= 0 && next < cells.length; next += step) {
    if (cells[next].disabled) continue;
    cells[at].tabIndex = -1;
    cells[next].tabIndex = 0;
    return cells[next].focus();
  }
}

// -- text, heaps ----------------------------------------------------------------------------------
/** A picture in letters, as large as fits. A wide margin is cut off; lines that begin in the margin stand below, smaller. */
function drawnText(text) {
  const lines = text.split("\n"), blanks = lines.map((line) => /^ *\d* */.exec(line)[0].length); // with the number of a row
  const margin = blanks.toSorted((a, b) => a - b)[Math.min(2, lines.length - 1)] - 4;
  const isOutside = (_, i) => margin >= 4 && blanks[i] <= margin;
  const drawn = lines.filter((line, i) => !isOutside(line, i)).map((line) => (margin < 4 ? line : line.slice(0, 3) + line.slice(margin)));
  return h("figure", { class: "drawn" }, [drawn, lines.filter(isOutside)].filter((part) => part.length).map(largeText));
}

function largeText(lines) {
  const pre = h("pre", { class: "large" }, lines.join("\n"));
  pre.style.setProperty("--letters", Math.max(24, ...lines.map((line) => line.length)));
  return pre;
}

/** Rows of stones. A click on a stone takes it and those to the right of it, if that is a move. */
function drawHeaps(heaps, choices, pick) {
  return heaps.map(({ name, count }, i) => {
    const takes = new Map(choices.map((choice) => [takenBy(choice, i, name, heaps.length), choice]).filter(([n]) => n !== null));
    const shown = Math.min(count, 60);
    const pebbles = Array.from({ length: shown }, (_, at) => {
      const n = shown - at, choice = takes.get(n);
      const taken = (is) => () => pebbles.slice(at).forEach((pebble) => pebble.toggleAttribute("data-taken", is));
      return h("button", { class: "pebble", type: "button", disabled: !choice, "aria-label": choice ? `take ${n}` : "stone", onclick: () => pick([choice]), onpointerenter: choice && taken(true), onpointerleave: choice && taken(false) });
    });
    return h("div", { class: "heap", role: "group", "aria-label": `${name}: ${count}` }, h("b", {}, heaps.length > 1 ? `${name}: ${count}` : count ? String(count) : "No stones are left"), pebbles);
  });
}

function takenBy({ params }, heap, name, heaps) {
  const numbers = Object.values(params).filter(Number.isInteger);
  if (heaps === 1) return numbers.length === 1 && Object.keys(params).length === 1 ? numbers[0] : null;
  const text = Object.entries(params).map(([key, value]) => `${key}:${value}`).join(", ");
  const [, which, n] = /(?:pile|heap|row)\D*(\d+)\D+(\d+)/.exec(text) ?? [];
  return which !== undefined && (name.endsWith(` ${which}`) || (!/\d/.test(name) && Number(which) === heap)) ? Number(n) : null;
}

/** Heaps of a status or of a text. */
function heapsOf(status, text) {
  for (const [name, value] of Object.entries(status)) {
    if (/^(stones|heap|pile|matches|sticks|coins|tokens|objects|pebbles)$/.test(name) && Number.isInteger(value)) return { used: name, heaps: [{ name: nameInWords(name), count: value }] };
    if (/^(heaps|piles|rows)$/.test(name) && Array.isArray(value) && value.every(Number.isInteger)) return { used: name, heaps: value.map((count, i) => ({ name: `${nameInWords(name).slice(0, -1)} ${i}`, count })) };
  }
  const found = [...text.matchAll(/\b((?:pile|heap) \d+) has (\d+)/g)];
  return { used: null, heaps: found.map(([, name, count]) => ({ name: nameInWords(name), count: Number(count) })) };
}
