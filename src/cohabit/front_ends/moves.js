// Finds the cells of a board that a move names. Pure functions.
//
// A place is { to } or { from, to }, as numbers of cells row by row, or { column }, for moves that name only a column.

/** The places where a choice acts on this board, none if it names none. `mover`: the side that moves, such as "black". */
function placesOf(choice, board, mover) {
  const texts = Object.values(choice.params ?? {}).filter((each) => typeof each === "string");
  if (isChess(board) && texts.length === 1 && !/^[a-h][1-8][a-h][1-8]/.test(texts[0])) return chessPlaces(texts[0], board, mover);
  const place = placeOf(choice, board);
  return place ? [place] : [];
}

const FROM = ["from", "source", "start", "origin", "src"], TO = ["to", "target", "destination", "dest", "end"];
const ROW = ["row", "r", "y", "rank", "line"], COLUMN = ["column", "col", "c", "x", "file"];
const CELL = ["cell", "square", "position", "pos", "index", "place", "point", "tile", "field", "at"];

function placeOf({ params = {} }, board) {
  const value = (names) => names.map((name) => params[name]).find((each) => each !== undefined);
  const [from, to] = [cellOf(value(FROM), board), cellOf(value(TO), board)];
  if (from !== null && to !== null) return { from, to };
  const ends = [[params.from_x ?? params.x1, params.from_y ?? params.y1], [params.to_x ?? params.x2, params.to_y ?? params.y2]].map(([x, y]) => cellAt(y, x, board));
  if (ends.every((end) => end !== null)) return { from: ends[0], to: ends[1] };
  const both = cellAt(value(ROW), value(COLUMN), board);
  if (both !== null) return { to: both };
  const cell = cellOf(value(CELL), board);
  if (cell !== null) return { to: cell };
  if (value(COLUMN) !== undefined) return columnOf(value(COLUMN), board);
  const texts = Object.values(params).filter((each) => typeof each === "string");
  return texts.length === 1 ? placeOfText(texts[0], board) : null;
}

const sizeOf = ({ rows }) => [rows.length, rows[0].length];

/** The place of a name among names; without names, a number from 0. */
function indexOf(name, names, size) {
  if (name === undefined || name === null) return -1;
  const text = String(name).toLowerCase();
  if (names) return names.findIndex((each) => each.toLowerCase() === text);
  return /^\d+$/.test(text) && Number(text) < size ? Number(text) : -1;
}

function cellAt(row, column, board) {
  const [height, width] = sizeOf(board);
  const [r, c] = [indexOf(row, board.rowNames, height), indexOf(column, board.columnNames, width)];
  return r < 0 || c < 0 ? null : r * width + c;
}

/** The number of the cell with this name: a number, "e4", [row, column] or { x, y }. */
function cellOf(name, board) {
  const [height, width] = sizeOf(board);
  if (Number.isInteger(name)) return name >= 0 && name < height * width ? name : null;
  if (Array.isArray(name) && name.length === 2) return cellAt(name[0], name[1], board);
  if (name && typeof name === "object") return cellAt(name.y ?? name.row, name.x ?? name.column ?? name.col, board);
  return typeof name === "string" ? squareOf(name, board) : null;
}

function squareOf(text, board) {
  const found = /^([a-z]{1,2})(\d{1,2})$/i.exec(text.trim());
  if (!found) return null;
  const [height, width] = sizeOf(board);
  const columns = board.columnNames ?? Array.from({ length: width }, (_, i) => String.fromCharCode(97 + i));
  const rows = board.rowNames ?? Array.from({ length: height }, (_, i) => String(height - i));
  const lettersAcross = /[a-z]/i.test(columns[0]);
  return lettersAcross ? cellAt(found[2], found[1], { ...board, rowNames: rows, columnNames: columns }) : cellAt(found[1], found[2], board);
}

function columnOf(name, board) {
  const column = indexOf(name, board.columnNames, board.rows[0].length);
  return column < 0 ? null : { column };
}

function placeOfText(text, board) {
  const plain = text.trim().replace(/^[[(]|[\])]$/g, "").trim();
  const squares = plain.match(/[a-z]\d{1,2}(?!\d)/gi) ?? [];
  const isSquares = squares.length && /^(?:[a-z]\d{1,2}[-x>:* ]{0,2})+[=/]?[a-z]?[+#*]?$/i.test(plain);
  if (isSquares) {
    const cells = squares.map((square) => squareOf(square, board));
    if (cells.every((cell) => cell !== null)) return cells.length > 1 ? { from: cells[0], to: cells.at(-1) } : { to: cells[0] };
  }
  return placeOfNumbers(plain, board);
}

/** "(0,1)", "3 2", "row 1 column 2", "column 4", "[2 5 8]" with a value at the end, or the number that a free cell shows. */
function placeOfNumbers(text, board) {
  const pairs = text.match(/\(\d+, ?\d+\)/g) ?? [];
  if (pairs.length === 1) return asPlace(numberedCell(...pairs[0].match(/\d+/g), text, board));
  const words = text.toLowerCase().replace(/[a-z]+/g, (word) => (/^(row|r|column|col|c|x|y|cell|to|from)$/.test(word) ? word : "?"));
  if (/[?/]/.test(words)) return null;
  const numbers = text.match(/\d+/g) ?? [];
  const column = /^(?:column|col|c)\s*(\d+)$/i.exec(text);
  if (column) return columnOf(column[1], board);
  if (numbers.length >= 2) {
    const firstIsColumn = /^\s*(?:column|col|c|x)\b/i.test(text);
    const places = numbers.length === 4 ? [numbers.slice(0, 2), numbers.slice(2)] : [numbers.slice(0, 2)];
    const cells = places.map(([one, two]) => numberedCell(...(firstIsColumn ? [two, one] : [one, two]), text, board));
    if (cells.some((cell) => cell === null)) return null;
    return cells.length > 1 ? { from: cells[0], to: cells[1] } : { to: cells[0] };
  }
  if (numbers.length !== 1 || !/^(cell )?\d+$/.test(text)) return null;
  const shown = board.rows.flat().indexOf(numbers[0]);
  return shown >= 0 ? { to: shown } : columnOf(numbers[0], board);
}

const asPlace = (cell) => (cell === null ? null : { to: cell });

/** Boards without names count from 0, or from 1 where moves speak of rows and columns. */
function numberedCell(row, column, text, board) {
  const from = !board.rowNames && /row/i.test(text) ? 1 : 0;
  return board.rowNames || board.columnNames ? cellAt(row, column, board) : cellAt(row - from, column - from, board);
}

// -- chess ----------------------------------------------------------------------------------------
const isChess = ({ rows }) => rows.length === 8 && rows[0].length === 8 && rows.flat().includes("K") && rows.flat().includes("k") && rows.flat().every((cell) => /^[KQRBNPkqrbnp.]?$/.test(cell));

/** Where "Nf3", "exd5" or "O-O" leads, and from where. A pinned piece may be listed as well: either leads to the same choice. */
function chessPlaces(move, board, mover) {
  const cells = board.rows.flat(), isOwn = (cell, piece) => cell === (mover === "black" ? piece.toLowerCase() : piece);
  const plain = move.replace(/[+#!?]+$/, "");
  if (/^[O0]-[O0]/.test(plain)) {
    const king = cells.findIndex((cell) => isOwn(cell, "K"));
    return [{ from: king, to: king + (plain.length > 3 ? -2 : 2) }];
  }
  const found = /^([KQRBN])?([a-h])?([1-8])?x?([a-h][1-8])(=?[QRBN])?$/.exec(plain);
  if (!found) return [];
  const [, piece = "P", file, rank, square] = found, to = squareOf(square, board);
  return cells.flatMap((cell, from) => {
    const name = [board.columnNames[from % 8], board.rowNames[Math.floor(from / 8)]];
    const isNamed = (!file || file === name[0]) && (!rank || rank === name[1]);
    return isOwn(cell, piece) && isNamed && reaches(piece, from, to, mover, cells, plain.includes("x")) ? [{ from, to }] : [];
  });
}

function reaches(piece, from, to, mover, cells, isCapture) {
  const [dx, dy] = [(to % 8) - (from % 8), Math.floor(to / 8) - Math.floor(from / 8)], [ax, ay] = [Math.abs(dx), Math.abs(dy)];
  const isFree = (cell) => [".", ""].includes(cells[cell]), ahead = mover === "black" ? 8 : -8;
  if (piece === "N") return ax * ay === 2;
  if (piece === "K") return Math.max(ax, ay) === 1;
  if (piece === "P" && ax === 1) return isCapture && 8 * dy === ahead;
  if (piece === "P") return ax === 0 && isFree(to) && (8 * dy === ahead || (8 * dy === 2 * ahead && isFree(from + ahead)));
  if (!(piece !== "B" && (ax === 0 || ay === 0)) && !(piece !== "R" && ax === ay)) return false;
  const step = Math.sign(dx) + 8 * Math.sign(dy);
  for (let at = from + step; at !== to; at += step) if (!isFree(at)) return false;
  return true;
}
