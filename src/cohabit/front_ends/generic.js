// The board of any world, made from what its member sees: no world needs to know of it.
let view = null, tools = [], keys = new Map(), busy = false, isLost = false;

const choicesNow = () => (view && view.your_turn && !view.over && !context.replay ? view.observation?.choices ?? [] : []);

/** One of these choices is wanted: make it, or ask which. */
async function pick(choices) {
  if (choices.length > 1) return ask(choices, pick);
  if (busy) return;
  busy = true;
  setText($("problem"), "");
  try {
    const [{ action, params = {} }] = choices, result = await call(toolName(action), params);
    setText($("said"), typeof result.message === "string" ? result.message : "");
  } catch (error) {
    setText($("problem"), error.message.replace(/^\[[A-Z_]+\] /, ""));
  }
  busy = false;
}

/** The tool of an action. In MCP it may have a prefix. */
const toolName = (action) => tools.find(({ name }) => name === action)?.name ?? tools.find(({ name }) => name.endsWith(`_${action}`))?.name ?? action;

function draw(next, problem) {
  if (problem || isLost) setText($("problem"), problem ?? ""); // a refusal stays until the next move
  isLost = Boolean(problem);
  if (!next) return;
  if (view && next.id !== view.id) $("ask").hidden = true;
  view = next;
  drawAgain();
}

function drawAgain() {
  const { observation = {}, players = {}, seat } = view, { status = {} } = observation, choices = choicesNow();
  const { boards, parts, used, isWhole } = readBoards(observation);
  const legends = parts.flatMap(({ prose }) => (prose ?? "").split("\n").map((line) => [line, readLegend(line, boards)]).filter(([, legend]) => legend));
  const legend = Object.assign({}, ...legends.map(([, legend]) => legend));
  const { used: heapName, heaps } = boards.length ? { used: null, heaps: [] } : heapsOf(status, observation.text ?? "");
  const isHeapLine = (line) => heaps.length && /([^\s\d])\1{3,}|\b(pile|heap) \d+ has|\bheap: /.test(line);
  const known = Object.values(status).filter((value) => typeof value === "string" && value.length > 10);
  const isSaid = (line) => !legends.some(([said]) => said === line) && !isHeapLine(line) && !known.some((value) => line.endsWith(value));
  const read = readProse(parts.map((part) => (part.prose ? { prose: part.prose.split("\n").filter(isSaid).join("\n") } : part)));
  const movesOn = boards.map((board) => choices.flatMap((choice) => placesOf(choice, board, String(status.you ?? seat ?? "")).map((place) => [choice, place])));
  const placed = new Set(movesOn.flat().map(([choice]) => choice));

  drawTurn(status, boards);
  drawBoards(boards, movesOn, legend, pick, choices.length ? openMove(choices) : null);
  drawBesides(boards, parts, heaps, choices, legend);
  const listed = context.choices ? [] : choices; // the page lists them
  drawMoves(listed.filter((choice) => !placed.has(choice)), keys, pick);
  drawList(listed.filter((choice) => placed.has(choice)));
  const skipped = [...used, heapName, ...OWN_PLACES];
  const values = Object.entries(status).filter(([name, value]) => !skipped.includes(name) && !saidBefore(value, observation.text));
  const { inventory, location, time_of_day: time, nearby_entities: near } = observation;
  const more = { ...(time && { time }), ...(location && { place: shortValue(location.region ?? location.coordinates ?? location.description) }), ...(inventory && Object.keys(inventory).length && { inventory }), ...(near?.length && { nearby: near.map(nearEntry) }) };
  $("facts").replaceChildren(...cardRows(read.cards), ...factsOf({ ...Object.fromEntries(read.facts), ...Object.fromEntries(values), ...more }, players, seat));
  const prose = read.prose.join("\n").trim();
  const isLong = prose.length > 700 || (isWhole && prose.startsWith("|"));
  $("words").replaceChildren(...(prose && !isLong ? [h("p", { class: "prose" }, prose)] : []));
  drawStory(storyOf(observation, read.story));
  $("whole").hidden = !observation.text;
  setText($("whole").lastChild, observation.text ?? "");
  $("whole").open ||= isLong && !boards.length && !heaps.length && !read.cards.length && !$("whole").wasSeen;
  $("whole").wasSeen = true;
  if (!boards.length && !heaps.length && !parts.some((part) => part.drawn)) drawPicture();
  document.querySelector("main").toggleAttribute("data-board", $("boards").children.length > 0);
}

const nearEntry = ({ name, type, distance, direction, state }) => ({ name: name ?? type, ...(state && { state }), ...(direction && { direction }), ...(distance !== undefined && { distance }) });
const saidBefore = (value, text) => typeof value === "string" && value.length > 40 && value.includes("\n") && Boolean(text);
const cardRows = (cards) => cards.map(({ label, cards: all, rest }) => h("section", {}, h("h3", {}, `${label} `, h("small", {}, rest)), h("div", { class: "row" }, all.map(cardElement))));

/** Values of `winner` that mean a draw, unless a seat has that name. */
const DRAWN = /^(?:(?:a |it's a )?(?:draw|tie)|drawn|tied|nobody|no one|none)[.!]?$/i;

/** Whose turn it is, or how the game ended. */
function drawTurn(status, boards) {
  const { over, your_turn: isMine, to_move: movers = [], players = {}, seat, paused } = view;
  const me = status.you ?? seat;
  const totals = isDict(status.returns) ? status.returns : totalsIn(view.observation?.text ?? "");
  const sides = Object.keys(totals ?? {}), best = sides.filter((side) => totals[side] === Math.max(...Object.values(totals)));
  const winners = [status.winner ?? (best.length < sides.length ? best : [])].flat().filter(Boolean); // partners have the same total
  const nobody = winners.length ? winners.length === 1 && !(winners[0] in players) && DRAWN.test(winners[0]) : Array.isArray(status.winner);
  const ended = nobody ? "A draw." : winners.length ? wonBy(winners, me, players) : best.length > 1 ? "A draw." : "Game over.";
  const waiting = movers.length ? `Waiting for ${movers.slice(0, 4).join(", ")}` : "";
  setText($("turn"), over ? ended : paused ? "Paused" : isMine && !context.replay ? "Your turn" : waiting);
  $("turn").toggleAttribute("data-mine", Boolean(isMine && !over));
  const isOneOfMany = me && Object.keys(players).length > 1, key = `${isOneOfMany} ${me} ${boards[0]?.rows.flat().join("")}`;
  if ($("you").shows !== key) $("you").replaceChildren(...(isOneOfMany ? [`You play ${plainWords(String(me))}`, sampleOf(String(me), boards[0])] : []));
  $("you").shows = key;
}

/** Who won, in words. A winner that is no side, such as "the crew", may be mine: only of sides can be said who lost. */
function wonBy(winners, me, players) {
  const says = typeof winners[0] === "string" && /[.!]$/.test(winners[0]) ? winners[0] : `${inWords(winners.map((side) => players[side] ?? side))} ${winners.length > 1 ? "win" : "wins"}.`;
  const areSides = winners.every((side) => side in players || !(me in players));
  return winners.includes(me) ? "You win!" : me && areSides ? `You lose. ${says}` : says;
}

const inWords = (names) => [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");

/** Totals that only the text names: "Totals: player_1 1, player_2 -1." */
function totalsIn(text) {
  const [, list = ""] = /\b(?:Totals|Result): ([^\n]+)/.exec(text) ?? [];
  const pairs = [...list.matchAll(/([\w ]+?) (-?\d+(?:\.\d+)?)(?=[,.]|$)/g)].map(([, name, total]) => [name.trim(), Number(total)]);
  return pairs.length > 1 ? Object.fromEntries(pairs) : null;
}

/** The stone of a side that is named like its mark on the board: "x", "black" for b. */
function sampleOf(side, board) {
  if (!board) return "";
  const style = styleOf(board, null), marks = new Set(board.rows.flat());
  const mark = [side, side.toUpperCase(), ...(/^(black|white)$/.test(side) ? [side[0], side[0].toUpperCase(), ...(side === "black" ? ["X", "x", "+"] : ["O", "o"])] : [])].find((each) => marks.has(each) && each !== style.empty);
  return mark && style.kind === "stones" ? h("span", { class: `sample ${lookOf(mark, style).look}` }) : "";
}

/** A world that lists only some cells for an action with x and y takes others as well: any cell can be clicked. */
function openMove(choices) {
  const named = choices.map(({ action }) => action).find((action) => {
    const properties = tools.find(({ name }) => name === toolName(action))?.inputSchema?.properties ?? {};
    return Object.keys(properties).sort().join() === "x,y";
  });
  return named ? (i, { rows }) => ({ action: named, params: { x: i % rows[0].length, y: Math.floor(i / rows[0].length) } }) : null;
}

/** Pictures in letters, heaps of stones, and what the marks of a board mean. */
function drawBesides(boards, parts, heaps, choices, legend) {
  const drawn = parts.filter((part) => part.drawn).map((part) => drawnText(part.drawn));
  const shown = new Set(boards.flatMap(({ rows }) => rows.flat()));
  const meanings = Object.entries(legend).filter(([mark]) => shown.has(mark) || /\d|[A-Z]/.test(mark)).map(([mark, meaning]) => h("span", {}, h("b", {}, mark), ` ${meaning}`));
  const all = [...drawn, ...drawHeaps(heaps, choices, pick), ...(meanings.length ? [h("p", { class: "legend" }, meanings)] : [])];
  const state = JSON.stringify([parts, heaps, choices, [...shown]]);
  if ($("boards").besides?.state === state) return;
  for (const element of $("boards").besides?.all ?? []) element.remove();
  $("boards").append(...all);
  $("boards").besides = { state, all };
}

/** The picture that the world draws, where nothing else shows it: an extra, which replays do not have. */
async function drawPicture() {
  const has = tools.some(({ name }) => name === "picture") && !context.replay;
  if (!has || $("boards").wanted === view.id) return;
  $("boards").wanted = view.id;
  const { data, mimeType } = await call("picture").catch(() => ({}));
  if (!data) return;
  const figure = $("boards").picture ??= h("figure", {}, h("img", { class: "picture", alt: "What the world looks like" }));
  figure.firstChild.src = `data:${mimeType};base64,${data}`;
  if (!figure.isConnected) $("boards").append(figure);
  document.querySelector("main").toggleAttribute("data-board", true);
}

/** All moves that can be made on a board, as buttons, for those who prefer them. */
function drawList(choices) {
  $("listed").hidden = !choices.length;
  setText($("listed").firstChild, choices.length === 1 ? "The move on the board" : `All ${choices.length} moves on the board`);
  if (!$("listed").open) return;
  const box = $("listed").lastChild;
  if (!box.firstChild) box.append(makeGroup(""));
  drawGroup(box.firstChild, choices, new Set(choices.map(({ action }) => action)).size === 1, keys, pick);
}

function drawStory(lines) {
  const list = $("story").firstChild ?? $("story").appendChild(h("ol", { class: "story", "aria-label": "What happened", tabindex: 0 }));
  list.hidden = !lines.length;
  list.replaceChildren(...lines.slice(-40).map((line) => h("li", {}, line)));
  list.scrollTop = list.scrollHeight;
}

/** Forms for what is not listed: all actions of a world that lists nothing, and those that take a text or a number of one's own. */
function drawForms() {
  const listed = new Set((view?.observation?.choices ?? []).map(({ action }) => action));
  const own = tools.filter(({ name, annotations }) => !annotations?.readOnlyHint && !["view", "next_view", "wait_for_turn", "picture", "scene", "keys", "front_end", "view_notes", "act"].includes(name));
  const free = own.filter(({ name, inputSchema = {} }) => !listed.has(name) || !["", "move"].includes(Object.keys(inputSchema.properties ?? {}).join()));
  const isShown = free.length > 0 && !context.replay && !context.choices && Boolean(view?.seat) && !view.over;
  $("forms").hidden = !isShown;
  const names = free.map(({ name }) => name).join();
  if (!isShown || $("forms").names === names) return;
  $("forms").names = names;
  $("forms").lastChild.replaceChildren(...free.map((tool) => makeForm(tool, (choice) => pick([choice]))));
}

async function learn() {
  if (context.replay) return;
  tools = (await request("tools/list", {}).catch(() => ({ tools: [] }))).tools;
  if (tools.some(({ name }) => name === "keys")) {
    const known = await call("keys").catch(() => ({ keys: [] }));
    keys = new Map(known.keys.map(({ key, action, params }) => [keyOf({ action, params }), KEY_NAMES[key] ?? key]));
  }
}
const KEY_NAMES = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", " ": "space" };
$("listed").ontoggle = () => { if (view) drawAgain(); };
let learning = null;
start("Board", async (next, problem) => {
  draw(next, problem);
  if (!next) return;
  await (learning ??= learn().then(drawAgain));
  drawForms();
});
