// How the marks of a board look and what they are called: pieces, stones, numbers, ground. Pure functions.
const CHESS = { k: ["♚", "king"], q: ["♛", "queen"], r: ["♜", "rook"], b: ["♝", "bishop"], n: ["♞", "knight"], p: ["♟", "pawn"] };
const DARK_STONES = ["x", "X", "b", "B", "+", "*"], LIGHT_STONES = ["o", "O", "w", "W", "8"];
const GROUND = [ // by a word of the meaning: colour of the cell
  [/\b(you|your|agent|taxi|player|hero)\b/, "you"], [/\b(sea|water|river|ocean)\b/, "sea"], [/\b(wall|rock|stone|mountain|cliff|obstacle)\b/, "wall"],
  [/\b(lava|fire|hole|mine|danger|trap)\b/, "danger"], [/\b(goal|exit|target|finish|home)\b/, "goal"], [/\b(not visible|unknown|unseen|hidden)\b/, "unknown"],
  [/\b(dark)\b/, "dark"], [/\b(ice|snow)\b/, "ice"], [/\b(grass|land|field)\b/, "land"], [/\b(tree|wood|forest|bush)\b/, "tree"], [/\b(free|empty|path|floor|no wall)\b/, "free"],
  [/\b(key|door|gold|coin|ball|box|oil|food|gem|treasure|start|tower)\b/, "thing"],
];

/** The style of a board: which mark is empty, and whether it has chess pieces, stones, marks, numbers or ground. */
function styleOf(board, legend) {
  const cells = board.rows.flat(), isLarge = Math.min(board.rows.length, board.rows[0].length) > 3;
  const empty = isNaN(cells.find((cell) => cell === "0") ?? NaN) ? EMPTY_MARKS.find((mark) => cells.includes(mark) && !legendOf(legend, mark, /wall|you|cliff/)) ?? null : EMPTY_MARKS.find((mark) => cells.includes(mark)) ?? null;
  const marks = [...new Set(cells)].filter((cell) => cell !== empty);
  const kind = isChess(board) ? "chess"
    : marks.length && marks.every((mark) => /^-?\d+$/.test(mark)) ? "numbers"
      : isLarge && marks.every((mark) => [...DARK_STONES, ...LIGHT_STONES].includes(mark)) ? "stones"
        : !isLarge && marks.every((mark) => /^([xo]|\d)$/i.test(mark)) ? "marks" : "ground";
  return { kind, empty, legend };
}

const legendOf = (legend, mark, words) => Boolean(legend?.[mark] && words.test(legend[mark].toLowerCase()));

/** How a cell looks: { text, look, hue, name }. `look` is a name that the styles know. */
function lookOf(mark, { kind, empty, legend }) {
  const meaning = legend?.[mark];
  if (kind === "ground") return { text: (mark === empty && !meaning) || groundOf(mark, meaning, empty) === "unknown" ? "" : mark, look: groundOf(mark, meaning, empty), hue: hueOf(mark), name: meaning ?? (mark === empty ? "free" : mark) };
  if (mark === empty) return { text: "", look: "empty", name: "free" };
  if (kind === "chess") return { text: `${CHESS[mark.toLowerCase()][0]}\uFE0E`, look: mark === mark.toLowerCase() ? "black piece" : "white piece", name: `${mark === mark.toLowerCase() ? "black" : "white"} ${CHESS[mark.toLowerCase()][1]}` };
  if (kind === "stones") return { text: /[*8]/.test(mark) ? "♛\uFE0E" : "", look: DARK_STONES.includes(mark) ? "dark stone" : "light stone", name: meaning ?? mark };
  if (kind === "marks") return /\d/.test(mark) ? { text: mark, look: "free number", name: "free" } : { text: mark.toUpperCase(), look: mark.toLowerCase() === "x" ? "first mark" : "second mark", name: mark };
  return { text: mark, look: "number", hue: numberHue(Number(mark)), name: mark };
}

function groundOf(mark, meaning, empty) {
  const known = meaning && GROUND.find(([words]) => words.test(meaning.toLowerCase()));
  if (known) return known[1];
  if (mark === empty) return "empty";
  return { "#": "wall", "@": "you", "~": "sea", "^": "rock wall", "?": "unknown" }[mark] ?? "thing";
}

const hueOf = (mark) => ([...mark].reduce((sum, letter) => sum * 31 + letter.codePointAt(0), 7) * 47) % 360;
const numberHue = (number) => (number <= 0 ? 220 : Math.round(45 - 24 * Math.log2(number)) + 720) % 360;

// -- cards ----------------------------------------------------------------------------------------
const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣", "♠": "♠", "♥": "♥", "♦": "♦", "♣": "♣" };
const SUIT_NAMES = { "♠": "spades", "♥": "hearts", "♦": "diamonds", "♣": "clubs" };
const RANKS = { 11: "J", 12: "Q", 13: "K", 14: "A", 1: "A", T: "10" };

/** A card such as "H12", "♠A", "10♥" or "TH" as { rank, suit }, or null. With `bare`, also "K" and "7". */
function cardOf(text, bare = false) {
  const found = /^([SHDC♠♥♦♣])(10|1[1-4]|[1-9TJQKA])$/iu.exec(text) ?? /^(10|[2-9TJQKA])([SHDC♠♥♦♣])$/iu.exec(text)?.map((part, i, all) => all[[0, 2, 1][i]]);
  if (found) return { suit: SUITS[found[1].toLowerCase()], rank: RANKS[found[2].toUpperCase()] ?? found[2].toUpperCase() };
  return bare && /^(10|[2-9JQKA])$/.test(text) ? { suit: "", rank: text } : null;
}

/** The cards of a line such as "Your hand: 8♣, 7♦ (15)": { label, cards, rest }, or null. */
function cardsIn(line) {
  const found = /^(.*\S):\s+([^:]+)$/.exec(line.replace(/\. .*$/, (rest) => (cardsAt(line.slice(0, -rest.length)) ? "" : rest)));
  return found ? cardsAt(found[0]) : null;
}

function cardsAt(line) {
  const found = /^(.*\S):\s+([^:]+)$/.exec(line);
  if (!found) return null;
  const [, label, list] = found, [cards, rest = ""] = list.split(/(?= \()/), tokens = cards.replace(/\.$/, "").split(/[,\s]+/).filter(Boolean);
  const bare = /\b(cards?|hand)\b/i.test(label), read = tokens.map((token) => cardOf(token, bare));
  return tokens.length && read.every(Boolean) ? { label, cards: read, rest: rest.trim() } : null;
}
