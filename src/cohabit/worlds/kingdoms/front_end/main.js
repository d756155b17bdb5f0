// The document: what is chosen and told, orders, keys; and the loop that brings each new view and scene.
const picture = new Picture($("stage")), orders = new Orders(), powers = new Powers(orders);
const PANEL_PAUSE_MS = 700;
let world = null; // the newest view and scene
let chosen = null; // what the panel tells: {kind, …}
let opener = null; // what had the focus before the panel
let pressed = false; // a button of the panel is being pressed: it must not be replaced now
let toldAt = -Infinity, tellsLater = 0;

// -- choosing -----------------------------------------------------------------------------------
/** Choose something and tell about it; null: close the panel. `focus`: go on in the panel, with the keyboard. */
function choose(what, focus = false) {
  if (!chosen && what) opener = document.activeElement;
  chosen = what;
  $("result").textContent = "";
  $("panel").hidden = !what;
  for (const [id, kind] of [["show-list", "list"], ["show-powers", "powers"]]) $(id).setAttribute("aria-expanded", String(what?.kind === kind));
  picture.chosen = placeOf(what);
  picture.stale("marks");
  if (!what) return opener?.isConnected && opener !== document.body ? opener.focus({ preventScroll: true }) : $("marks").focus({ preventScroll: true });
  $("panel").scrollTop = 0;
  $("choices").replaceChildren();
  tell(true);
  orders.refresh().then((changed) => changed && tell(true));
  if (picture.chosen) picture.camera.show(picture.chosen.x, picture.chosen.y, { covered: covered() });
  if (what.kind === "tile") lookAt(what);
  if (focus) ($("choices").querySelector("input, button") ?? $("facts").querySelector("button") ?? $("close")).focus({ preventScroll: true });
}

const covered = () => {
  const { offsetWidth, offsetHeight } = $("panel"), isSheet = offsetWidth > $("stage").clientWidth * 0.9;
  return isSheet ? { bottom: offsetHeight } : { right: offsetWidth };
};

function placeOf(what) {
  if (what?.kind === "tile" || what?.kind === "army") return { ...what, radius: what.kind === "army" ? 9 : Math.max(7, picture.camera.scale * 0.75) };
  const city = what?.kind === "city" && world.scene.cities.find(({ id }) => id === what.id);
  return city ? { x: city.x, y: city.y, radius: cityRadius(city) + 5 } : null;
}

/** Who is on a tile: the one thing that the scene does not have by name. Without an answer the panel says less. */
async function lookAt(tile) {
  if (context.replay) return;
  const { actors, actor_count: count } = await orders.give("get_tile", { x: tile.x, y: tile.y }).catch(() => ({}));
  if (chosen !== tile || !count) return;
  tile.people = `Here: ${actors.slice(0, 5).join(", ")}${count > 5 ? ` and ${count - 5} more` : ""}.`;
  tell(true);
}

// -- the panel ----------------------------------------------------------------------------------
function tell(now = false) {
  if (!chosen || !world) return;
  clearTimeout(tellsLater);
  const wait = toldAt + PANEL_PAUSE_MS - performance.now();
  if (!now && (pressed || wait > 0)) {
    tellsLater = setTimeout(tell, Math.max(wait, 100));
    return;
  }
  toldAt = performance.now();
  if (chosen.kind === "powers") return tellPowers();
  const told = tellOf[chosen.kind](chosen, world);
  if (!told) { // it has fallen, or can no longer be seen
    $("result").textContent = "You can no longer see it.";
    return;
  }
  $("title").textContent = told.title;
  paintSwatch($("panel").querySelector("header .swatch"), told.colour);
  replace($("facts"), told.facts);
  $("choices").className = "";
  replace($("choices"), choices().map(([words, command, args]) => h("button", { type: "button", "data-order": command, "data-args": JSON.stringify(args) }, words)));
}

async function tellPowers() {
  $("title").textContent = "Powers";
  paintSwatch($("panel").querySelector("header .swatch"), "");
  if ($("choices").classList.contains("powers") && $("choices").childElementCount) return;
  replace($("facts"), []);
  $("choices").className = "powers";
  try {
    await orders.learnPowers();
    if (chosen?.kind === "powers") $("choices").replaceChildren(...powers.list());
  } catch (error) {
    refused(error);
  }
}

/** The orders for what is chosen. */
function choices() {
  const { status, kingdoms, land, scene, view } = world;
  if (context.replay || view.over) return [];
  if (chosen.kind === "kingdom") return chosen.id === world.mine ? orders.own(status, kingdoms.get(chosen.id)) : orders.towards(chosen.id, status, kingdoms);
  if (chosen.kind === "army" && chosen.kingdom !== world.mine) return orders.towards(chosen.kingdom, status, kingdoms);
  if (chosen.kind === "army") return orders.own(status, kingdoms.get(world.mine));
  if (chosen.kind === "city") {
    const city = scene.cities.find(({ id }) => id === chosen.id);
    return city ? orders.at({ x: city.x, y: city.y, city, owner: city.kingdom }, status, kingdoms) : [];
  }
  if (chosen.kind !== "tile") return [];
  const { x, y } = chosen;
  return orders.at({ x, y, owner: scene.owners[land.coverAt(x, y).owner], isWater: land.isWaterAt(x, y) }, status, kingdoms);
}

/** Put these nodes into a part of the panel, if they differ from what is there; the focus stays where it was. */
function replace(part, nodes) {
  const made = h("div", {}, ...nodes.filter(Boolean));
  if (made.childNodes.length === part.childNodes.length && [...made.childNodes].every((node, number) => node.isEqualNode(part.childNodes[number]))) return;
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const like = focused && [...part.querySelectorAll("button, summary")].indexOf(focused);
  const name = focused?.dataset.choose ?? focused?.dataset.order;
  part.replaceChildren(...made.childNodes);
  if (!focused) return;
  const buttons = [...part.querySelectorAll("button, summary")];
  (buttons.find(({ dataset }) => name && (dataset.choose ?? dataset.order) === name) ?? buttons[Math.min(like, buttons.length - 1)] ?? $("close")).focus({ preventScroll: true });
}

function paintSwatch(element, colour) {
  colour ? element.style.setProperty("--colour", colour) : element.removeAttribute("style");
}

function refused(error) {
  $("result").textContent = plainly(error);
  $("result").className = "refused";
}

$("panel").addEventListener("pointerdown", () => { pressed = true; });
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => setTimeout(() => { pressed = false; }));
$("panel").addEventListener("click", async ({ target }) => {
  const button = target.closest("button");
  if (button?.id === "close") return choose(null);
  if (button?.dataset.choose) return choose(JSON.parse(button.dataset.choose), document.activeElement === button);
  if (button?.dataset.power) {
    const power = orders.powers.find(({ id }) => id === button.dataset.power);
    powers.arm(power.id);
    choose(null);
    $("marks").focus({ preventScroll: true });
    if (power.is_toggle) powers.use(world.scene.frame.size[0] >> 1, world.scene.frame.size[1] >> 1);
    return undefined;
  }
  if (!button?.dataset.order) return undefined;
  try {
    const { note, message, names } = await orders.give(button.dataset.order, JSON.parse(button.dataset.args));
    $("result").className = "";
    $("result").textContent = note ?? (names ? `${names.length} came: ${names.slice(0, 3).join(", ")}${names.length > 3 ? " …" : ""}` : message ?? "Done.");
  } catch (error) {
    refused(error);
  }
  return undefined;
});

// -- the map ------------------------------------------------------------------------------------
$("marks").addEventListener("click", ({ offsetX, offsetY, detail }) => {
  if (!world || picture.camera.dragged || detail > 1) return;
  picture.cursor = null;
  const place = picture.tileAt(offsetX, offsetY);
  if (powers.armed) return place && powers.use(place.x, place.y);
  choose(picture.at(offsetX, offsetY));
});

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const PANS = { a: [1, 0], d: [-1, 0], w: [0, 1], s: [0, -1] };

$("marks").addEventListener("keydown", (event) => {
  if (!world || event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event, { camera } = picture;
  if (STEPS[key]) moveCursor(STEPS[key], event.shiftKey ? 8 : 1);
  else if (PANS[key.toLowerCase()]) camera.pan(...PANS[key.toLowerCase()].map((way) => way * 70));
  else if (key === "+" || key === "=") zoomAtCursor(1.5);
  else if (key === "-") zoomAtCursor(1 / 1.5);
  else if (key === "Home") camera.fit();
  else if (key === "Enter" || key === " ") useCursor();
  else return;
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (powers.armed) powers.arm(null);
  else if (chosen) choose(null);
  else return;
  event.preventDefault();
});

function moveCursor([across, down], steps) {
  const { ground, camera } = picture, inside = (place, size) => Math.min(Math.max(place, 0), size - 1);
  const { x, y } = picture.cursor ?? picture.chosen ?? { x: Math.floor(camera.x), y: Math.floor(camera.y) };
  const first = !picture.cursor && !picture.chosen; // the mark appears first, and then moves
  picture.cursor = first ? { x, y } : { x: inside(x + across * steps, ground.width), y: inside(y + down * steps, ground.height) };
  camera.show(picture.cursor.x, picture.cursor.y, { covered: chosen ? covered() : {} });
  picture.stale("marks");
  $("here").textContent = placeInWords(picture.cursor);
}

function placeInWords({ x, y }) {
  const city = world.scene.cities.find((one) => one.x === x && one.y === y), tile = picture.ground.coverAt(x, y);
  const owner = world.kingdoms.get(world.scene.owners[tile.owner]);
  return [city?.name, groundWords(tile.id), owner && `land of ${owner.name}`, `${x}, ${y}`, tile.hidden && "out of sight"].filter(Boolean).join(", ");
}

function zoomAtCursor(factor) {
  const at = picture.cursor && picture.camera.pointOf(picture.cursor.x + 0.5, picture.cursor.y + 0.5);
  picture.camera.zoom(factor, ...(at ?? []));
}

function useCursor() {
  if (!picture.cursor) return moveCursor([0, 0], 0);
  const { x, y } = picture.cursor;
  if (powers.armed) return powers.use(x, y);
  const city = world.scene.cities.find((one) => Math.abs(one.x - x) <= 1 && Math.abs(one.y - y) <= 1);
  choose(city ? { kind: "city", id: city.id } : { kind: "tile", x, y }, true);
}

$("zoom").addEventListener("click", ({ target }) => {
  const factor = Number(target.dataset.zoom);
  if (!target.dataset.zoom) return;
  factor ? picture.camera.zoom(factor) : picture.camera.fit();
});
for (const [id, kind] of [["show-list", "list"], ["show-powers", "powers"]]) {
  $(id).onclick = ({ detail }) => choose(chosen?.kind === kind ? null : { kind }, detail === 0);
}
$("realm").onclick = ({ detail }) => choose(world?.mine ? { kind: "kingdom", id: world.mine } : { kind: "list" }, detail === 0);

// -- the loop -----------------------------------------------------------------------------------
function drawBar({ view, status, kingdoms, mine }) {
  const own = kingdoms.get(mine), danger = (view.observation.recent_events ?? []).at(-1);
  $("name").textContent = own?.name ?? "The world";
  paintSwatch($("realm").querySelector(".swatch"), own?.colour);
  const people = [...kingdoms.values()].reduce((sum, kingdom) => sum + kingdom.people, 0);
  $("numbers").textContent = own ? `${counted(own.people, "person", "people")} · ${counted(status.soldiers ?? 0, "soldier")} · ${status.faith ?? 0} faith` : `${counted(kingdoms.size, "kingdom")} · ${counted(people, "person", "people")}`;
  $("when").textContent = `${view.observation.time_of_day ?? ""}${view.over ? " · The match is over." : ""}`;
  const news = danger?.description.replace(/^year \d+: /, "") ?? "";
  if ($("news").textContent !== news) Object.assign($("news"), { textContent: news }).dataset.kind = danger?.type ?? "";
}

start("Kingdoms", async (view, problem) => {
  $("problem").textContent = problem ?? "";
  if (!view) return;
  const { status } = view.observation, mine = status.kingdom_id ?? 0;
  picture.update(view.scene, mine);
  world = { view, status, mine, scene: view.scene, kingdoms: picture.kingdoms, land: picture.ground };
  if (chosen) picture.chosen = placeOf(chosen);
  drawBar(world);
  $("fog").hidden = !picture.ground.isChart;
  $("fog").textContent = `${mine && !world.kingdoms.has(mine) ? "Your kingdom is no more" : "Fog"}: you see the land, not what happens on it.`;
  tell();
  if (await orders.refresh()) tell(true);
  $("show-powers").hidden = !(orders.has("invoke_power") && (orders.isGod || mine) && !view.over);
}, 250, { scene: true, controls: true });
