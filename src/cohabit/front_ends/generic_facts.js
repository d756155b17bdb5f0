// What a view says besides its boards: numbers, tables, cards, prose, and what happened.
const OWN_PLACES = ["you", "winner", "to_move", "messages", "board", "position", "text"];
const isDict = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function shortValue(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Math.round(value * 1000) / 1000);
  if (Array.isArray(value)) return value.map(shortValue).join(", ") || "–";
  return isDict(value) ? Object.entries(value).map(([name, each]) => `${plainWords(name)} ${shortValue(each)}`).join(", ") || "–" : String(value);
}

const fact = (name, value) => h("div", { class: "fact" }, h("small", {}, nameInWords(name)), h("b", {}, value));

/** The elements for the values of a status. `players`: handles by seat; `seat`: one's own. */
function factsOf(values, players, seat) {
  const facts = [], others = [];
  for (const [name, value] of Object.entries(values)) {
    if (OWN_PLACES.includes(name)) continue;
    const cards = Array.isArray(value) && value.length ? value.map((card) => (typeof card === "string" ? cardOf(card) : null)) : [null];
    if (cards.every(Boolean)) others.push(titled(name, h("div", { class: "row" }, cards.map(cardElement))));
    else if (isDict(value) && Object.keys(value).length) others.push(titled(name, tableOf(value, players, seat)));
    else if (Array.isArray(value) && value.length && value.every(isDict)) others.push(titled(name, listTable(value)));
    else if (typeof value === "string" && value.length > 40) others.push(titled(name, value.includes("\n") ? h("pre", {}, value) : h("p", {}, value)));
    else facts.push(fact(name, shortValue(value)));
  }
  return [...(facts.length ? [h("div", { class: "facts" }, facts)] : []), ...others];
}

const titled = (name, element) => h("section", {}, h("h3", {}, name === "returns" ? "Result" : nameInWords(name)), element);

/** A row for each entry, such as each player; a column for each value where entries have several. */
function tableOf(values, players, seat) {
  const columns = [...new Set(Object.values(values).filter(isDict).flatMap(Object.keys))];
  const isMine = (name) => name === seat;
  const label = (name) => (players[name] && players[name] !== name ? `${plainWords(name)} (${players[name]})` : plainWords(name));
  const head = columns.length ? [h("tr", {}, h("td"), columns.map((column) => h("th", {}, plainWords(column))))] : [];
  const rows = Object.entries(values).map(([name, value]) => h("tr", { "data-mine": isMine(name) }, h("th", {}, label(name)), columns.length ? columns.map((column) => h("td", {}, isDict(value) ? shortValue(value[column]) : shortValue(value))) : h("td", {}, shortValue(value))));
  return h("table", {}, head, rows);
}

function listTable(list) {
  const columns = [...new Set(list.flatMap(Object.keys))].slice(0, 6);
  return h("table", {}, h("tr", {}, columns.map((column) => h("th", {}, plainWords(column)))), list.slice(0, 50).map((entry) => h("tr", {}, columns.map((column) => h("td", {}, shortValue(entry[column]))))));
}

function cardElement({ rank, suit }) {
  return h("span", { class: "card", role: "img", "data-red": "♥♦".includes(suit) && suit !== "", "aria-label": suit ? `${rank} of ${SUIT_NAMES[suit]}` : rank }, suit ? `${rank}\n${suit}\uFE0E` : rank);
}

// -- words ----------------------------------------------------------------------------------------
const LAST_MOVES = /^(?:your )?last moves?: /i;
const NEEDLESS = /^(You are [\w ]+\.|It is your turn\.|Current board:?|Game board:?|Board state:|Available moves:.*|FEN: .*|Result: .*|Capital letters are White's.*)$/i;

/** The lines of the prose, sorted: cards, what happened, "Name: value" facts, and the rest. */
function readProse(parts) {
  const read = { cards: [], story: [], facts: [], prose: [] };
  for (const { prose } of parts.filter((part) => part.prose)) {
    const kept = [];
    for (const line of prose.split("\n")) {
      const cards = cardsIn(line);
      if (cards) read.cards.push(cards);
      else if (LAST_MOVES.test(line)) read.story.push(...line.replace(LAST_MOVES, "").split("; "));
      else if (!NEEDLESS.test(line.trim())) kept.push(line);
    }
    if (kept.join("").trim()) readFacts(kept, read);
  }
  return read;
}

function readFacts(lines, read) {
  const pairs = lines.map((line) => line.split(/\.\s+/).map((each) => /^([A-Z][\w ,']{0,24}): ([^:"]{0,40}?)\.?$/.exec(each)));
  lines.forEach((line, i) => (pairs[i].every(Boolean) ? read.facts.push(...pairs[i].map(([, name, value]) => [name, value || "–"])) : read.prose.push(line)));
  if (read.prose.length) read.prose.push("");
}

/** What happened, the newest last: events of the view, messages of the game, or its last moves. */
function storyOf({ recent_events: events = [], status = {}, last_action: last }, moves) {
  const messages = Array.isArray(status.messages) ? status.messages.filter(({ text }) => typeof text === "string" && !partsOfText(text).some(({ board }) => board)) : [];
  const told = messages.map(({ from, text }) => (from === "game" ? text : `${from}: ${text.replace(/^\[(.*)\]$/, "$1")}`));
  return [...(told.length ? told : moves), ...events.map(({ description }) => description), ...(last ? [shortValue(last.message ?? last.text ?? last)] : [])];
}
