// Finds boards in what a member sees: in values of its status, and in text. Pure functions.
//
// A board is { title, rows, rowNames, columnNames, slant }. `rows`: equally long lists of cells, each a short text. Names are those
// that moves use, where they are known. `slant`: each row is half a cell to the right of the one above it (hexes).

const MAX_CELL = 4; // characters of a cell in a text
const MAX_SIDE = 80;
const EMPTY_MARKS = [".", "-", "_", "__", "·", "", " ", "+"]; // the first one that a board has is its empty cell
const BOARD_NAME = /^(board|grid|map|cells|field|tiles|chart|maze)$/i;

/** The boards of an observation; the rest of its text, in parts; and the names of the values that the boards show. */
function readBoards({ status = {}, text = "" }) {
  const used = [], boards = [];
  for (const [name, value] of Object.entries(status)) {
    const board = boardOfValue(value, status, BOARD_NAME.test(name));
    if (!board) continue;
    boards.push({ ...board, title: BOARD_NAME.test(name) ? "" : nameInWords(name) });
    used.push(name);
  }
  const drawn = newestDrawing(status);
  const rules = Array.isArray(status.messages) ? text.split("\n\nWhat happened:")[0].replace(/^\| ?/gm, "") : text; // the messages tell the rest
  const parts = partsOfText(drawn ?? rules);
  if (drawn !== null) used.push("board");
  if (!boards.length) boards.push(...parts.flatMap(({ board }) => board ?? []));
  return { boards, parts: parts.filter(({ board }) => !board), used, isWhole: drawn === null };
}

/** A board as text that is newer than those in the text, which tells the whole story. */
function newestDrawing({ board, messages }) {
  if (typeof board === "string" && board) return board;
  if (!Array.isArray(messages)) return null;
  return messages.map(({ text }) => text).findLast((text) => typeof text === "string" && partsOfText(text).some((part) => part.board)) ?? null;
}

const nameInWords = (name) => name.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase().replace(/^./, (first) => first.toUpperCase());

// -- values ---------------------------------------------------------------------------------------
function boardOfValue(value, around, isNamed) {
  if (Array.isArray(value)) return boardOfList(value, around, isNamed);
  if (value === null || typeof value !== "object") return null;
  const found = ["rows", "grid", "board", "cells", "tiles"].find((name) => Array.isArray(value[name]));
  const board = found && boardOfList(value[found], value, true);
  if (!board) return null;
  return { ...board, rowNames: asNames(value.row_names ?? value.row_labels), columnNames: asNames(value.column_names ?? value.column_labels) };
}

const asNames = (names) => (Array.isArray(names) ? names.map(String) : typeof names === "string" ? [...names] : null);
const isPlain = (cell) => cell === null || typeof cell !== "object";

function cellText(cell) {
  if (cell === null || cell === undefined || cell === false) return "";
  if (cell === true) return "●";
  return String(typeof cell === "object" ? cell.symbol ?? cell.glyph ?? cell.name ?? cell.kind ?? cell.type ?? "?" : cell);
}

function boardOfList(list, around, isNamed) {
  if (list.length < 2 || list.length > MAX_SIDE * MAX_SIDE) return null;
  const isOf = (is) => list.every((row) => is(row) && row.length === list[0].length) && list.length <= MAX_SIDE && list[0].length <= MAX_SIDE;
  if (isOf(Array.isArray) && list[0].length > 1) return plainBoard(list.map((row) => row.map(cellText)));
  if (isOf((row) => typeof row === "string") && list[0].length > 2 && list.length > 2 && (isNamed || list.some((row) => /[^\w]/.test(row)))) return plainBoard(list.map((row) => [...row]));
  if (!isNamed || !list.every(isPlain)) return null;
  const width = Number(around.width ?? around.columns ?? around.size ?? Math.sqrt(list.length));
  if (!Number.isInteger(width) || width < 2 || list.length % width) return null;
  return plainBoard(Array.from({ length: list.length / width }, (_, row) => list.slice(row * width, (row + 1) * width).map(cellText)));
}

const plainBoard = (rows, names = {}) => ({ title: "", rows, rowNames: null, columnNames: null, slant: false, ...names });

// -- text -----------------------------------------------------------------------------------------
/** The parts of a text: { board }, { drawn } for what needs a fixed width, and { prose }. */
function partsOfText(text) {
  const lines = text.replace(/^\n+|\s+$/g, "").split("\n"), parts = [];
  let plain = [];
  const flush = () => {
    const blocks = plain.join("\n").replace(/^(\s*\n)+|\s+$/g, "").split(/\n\s*\n/);
    parts.push(...blocks.filter(Boolean).map((block) => (isDrawn(block) ? { drawn: block } : { prose: block })));
    plain = [];
  };
  for (let at = 0; at < lines.length; ) {
    const found = boardAt(lines, at);
    if (found) {
      while (plain.length && isFrame(plain.at(-1))) plain.pop();
      flush();
      parts.push({ board: found.board });
      at = found.end;
    } else plain.push(lines[at++]);
  }
  flush();
  return parts;
}

const HAND = /^(?=.*[2-9TJQK])(\w+: )?(([2-9TJQKA][SHDC]|[SHDC][2-9TJQKA]|[SHDC]( [2-9TJQKA]+)?)( |$))+$/; // cards, or suits with their ranks
const isHand = (tokens) => HAND.test(tokens.join(" "));
const isFrame = (line) => isRule(line) || /^[\d\s]*$/.test(line); // above a board: a line, or the tens of column numbers
const isRule = (line) => /^[\s|+\-=_]*[-=_]{3,}[\s|+\-=_]*$/.test(line) || /^\s*(- ){3,}/.test(line) || /^\s*\|[\s|]*\|\s*$/.test(line);

function isDrawn(block) {
  const lines = block.split("\n");
  const drawn = lines.filter((line) => /\S {3,}\S|[|+#]{2,}|-{3,}|^ {4,}\S|[─│┌┐└┘═║█]|^\d+ {3,}|^[|+].*[|+]$/.test(line)).length;
  const isTable = lines.some((line) => /^ {3,}\S/.test(line) && isHand(line.trim().split(/\s+/))); // its columns are the seats
  return lines.length > 1 && (isTable || drawn * 2 >= lines.length);
}

/** The board that begins at this line, and the line after it. */
function boardAt(lines, start) {
  const first = rowOf(lines[start]);
  if (!first) return null;
  const rows = []; // with the lines between rows left out
  for (let at = start; at < lines.length; at++) {
    const row = rowOf(lines[at]);
    if (row) rows.push({ ...row, at });
    else if (!isRule(lines[at])) break;
  }
  const above = isHeader(rows[0], rows[1]) ? rows.shift() : null;
  const width = rows[0]?.cells.length;
  const end = rows.findIndex(({ cells, dense }, i) => cells.length !== width || dense !== rows[0].dense || (i > 2 && isFooter(cells, rows[0].cells, above)));
  const body = end < 0 ? rows : rows.slice(0, end);
  const below = end > 0 && isSequence(rows[end].cells) ? rows[end] : null;
  const board = boardOf(body, (above ?? below)?.cells ?? null, lines);
  if (!board) return null;
  let after = (below ?? body.at(-1)).at + 1;
  while (after < lines.length && lines[after].trim() && isRule(lines[after])) after++;
  return { board, end: after };
}

/** A line as a row: cells with spaces or lines between them, or, if `dense`, one cell for each character, maybe after a name. */
function rowOf(line) {
  if (isRule(line)) return null;
  const tokens = line.replaceAll("|", " ").trim().split(/\s+/);
  if (isHand(tokens)) return null;
  if (tokens.length >= 3 && tokens.every((token) => token.length <= MAX_CELL) && !/^[-*] /.test(line)) return { cells: tokens, name: null, dense: false };
  const halves = tokens.length === 2 && tokens[0].length === tokens[1].length && line.includes("|"); // with a bar in the middle
  const dense = halves ? tokens.join("") : tokens.at(-1);
  if (dense.length < 3 || (tokens.length > 1 && !halves && (tokens.length > 2 || !/^(\d{1,2}|[A-Za-z])$/.test(tokens[0])))) return null;
  return { cells: [...dense], name: tokens.length > 1 && !halves ? tokens[0] : null, dense: true, begins: halves ? 0 : line.lastIndexOf(dense) };
}

/** Whether cells count up or down by one, or are letters in their order. Boards of Go leave out the I. */
function isSequence(cells) {
  const plain = cells.map((cell) => cell.replace(/^[A-Za-z](?=\d)/, ""));
  const places = plain.map((cell) => (/^\d+$/.test(cell) ? Number(cell) : /^[A-Za-z]$/.test(cell) ? cell.toLowerCase().charCodeAt(0) : NaN));
  const step = places[1] - places[0];
  return cells.length > 1 && Math.abs(step) === 1 && places.every((place, i) => i === 0 || place - places[i - 1] === step || (/[Jj]/.test(plain[i]) && place - places[i - 1] === 2));
}

function isHeader(row, next) {
  if (!row || !next) return false;
  if (row.dense) return row.cells.length > 3 && row.cells.every((cell, i) => cell === String(i % 10) || cell === String((i + 1) % 10));
  if (!isSequence(row.cells)) return false;
  return row.cells.length !== next.cells.length || next.cells.some((cell) => !/^\d+$/.test(cell)); // else it may be a row of numbers
}

const isFooter = (cells, row, above) => isSequence(cells) && (cells.length < row.length || above !== null);

function boardOf(body, header, lines) {
  if (body.length < (header ? 2 : 3) || body.length > MAX_SIDE) return null;
  let rows = body.map(({ cells }) => cells), rowNames = body[0].dense && body[0].name !== null ? body.map(({ name }) => name) : null;
  const isNamed = header ? rows[0].length > header.length : isSequence(rows.map(([first]) => first)) && rows.some(([, ...rest]) => rest.some((cell) => !/^\d+$/.test(cell)));
  if (!body[0].dense && isNamed) {
    rowNames = rows.map(([first]) => first);
    const isNamedTwice = rows.every((row, i) => row.length > 3 && row.at(-1) === rowNames[i]) && rows[0].length !== (header?.length ?? NaN) + 1;
    rows = rows.map((row) => row.slice(1, isNamedTwice ? -1 : undefined));
  }
  if (rowNames && body[0].dense && !(isSequence(rowNames) && rowNames.some((name) => /^[01]$/.test(name)))) return null; // the part of a screen
  if (body[0].dense && new Set(body.map(({ begins }) => begins)).size > 1) return null;
  if (rows[0].length < 3 || (header && !body[0].dense && rows[0].length !== header.length)) return null;
  if (body[0].dense && !rowNames && !rows.flat().some((cell) => /\W/.test(cell))) return null; // words
  if (rows.flat().every((cell) => /^[A-Za-z]{2,}$/.test(cell))) return null;
  const bare = (name) => name.replace(/^[A-Za-z](?=\d)|:$/g, "");
  const ends = body.map(({ at }) => lines[at].trimEnd().length);
  const slant = body.length > 2 && ends.every((end, i) => i === 0 || end === ends[i - 1] + 1);
  const columnNames = body[0].dense ? (rowNames && header ? rows[0].map((_, i) => String(i)) : null) : header?.map(bare) ?? null;
  return plainBoard(rows, { rowNames: rowNames?.map(bare) ?? null, columnNames, slant });
}

/** The meaning of each mark that a line such as "~ sea  ^ rock" or "@ you · F ice" names; null: it is no such line. */
function readLegend(line, boards) {
  const pieces = line.trim().split(/\s{2,}| · |; |, (?=\S )/).map((piece) => /^(\S)(?:-\S)? (?:is |= |means )?(.+)$/.exec(piece));
  const marks = boards.flatMap(({ rows }) => rows.flat());
  if (pieces.length < 2 || !pieces.every(Boolean) || !pieces.some(([, mark]) => marks.includes(mark) && !/[A-Za-z]/.test(mark))) return null;
  return Object.fromEntries(pieces.map(([, mark, meaning]) => [mark, meaning.replace(/[.,]$/, "")]));
}
