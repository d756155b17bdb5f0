// A shared board of sticky notes. It knows Cohabit only by kibitz.global.js, which the house serves.
//
//   index.html?house=http://127.0.0.1:8724&room=board#TOKEN
//
// With the token of an app, this page keeps the board: it publishes the view and the schemas, and does what members
// request. With any other token it shows the view, and requests actions.

const KEY = "__kib_agent";
const COLORS = ["yellow", "green", "blue", "pink"];
const MAX_NOTES = 60;

// -- what is on the board --------------------------------------------------------------------------
const text = { type: "string", minLength: 1, maxLength: 140 };
const color = { enum: COLORS };
const place = { type: "number", minimum: 0, maximum: 1 };
const id = { type: "integer" };
const does = (name, properties, required) => ({
  type: "object",
  properties: { do: { const: name }, ...properties },
  required: ["do", ...required],
  additionalProperties: false,
});
const SCHEMAS = {
  "board.view": {
    type: "object",
    properties: {
      notes: { type: "array", items: { type: "object", properties: { id, text, color, x: place, y: place, by: { type: "string" } } } },
    },
  },
  "board.action": {
    oneOf: [
      does("add", { text, color, x: place, y: place }, ["text"]),
      does("move", { id, x: place, y: place }, ["id", "x", "y"]),
      does("remove", { id }, ["id"]),
    ],
  },
};

const within = (value, otherwise) => (typeof value === "number" && value >= 0 && value <= 1 ? value : otherwise);

/** The notes after an action; the same notes if it is not valid. */
function applied(notes, action, by, nextId) {
  const note = notes.find((one) => one.id === action?.id);
  if (action?.do === "add" && typeof action.text === "string" && action.text.trim() && notes.length < MAX_NOTES) {
    const spot = nextId - 1;
    const added = {
      id: nextId,
      text: action.text.trim().slice(0, 140),
      color: COLORS.includes(action.color) ? action.color : COLORS[0],
      x: within(action.x, 0.03 + (spot % 5) * 0.19),
      y: within(action.y, 0.04 + (Math.floor(spot / 5) % 4) * 0.22),
      by,
    };
    return [...notes, added];
  }
  if (action?.do === "move" && note) {
    const moved = { ...note, x: within(action.x, note.x), y: within(action.y, note.y) };
    return notes.map((one) => (one === note ? moved : one));
  }
  if (action?.do === "remove" && note) return notes.filter((one) => one !== note);
  return notes;
}

// -- what is shown ---------------------------------------------------------------------------------
const board = document.getElementById("board");
const status = document.getElementById("status");

/** Show the notes. `request` is called with the actions of the person at this page. */
function show(notes, request) {
  if (board.querySelector(".dragged")) return; // the next view shows it
  board.replaceChildren(...notes.map((note) => card(note, request)));
}

function card(note, request) {
  const made = document.createElement("article");
  made.className = `note ${COLORS.includes(note.color) ? note.color : COLORS[0]}`;
  made.style.left = `${note.x * 100}%`;
  made.style.top = `${note.y * 100}%`;
  const words = document.createElement("div");
  words.textContent = note.text; // what others wrote is text, never markup
  const footer = document.createElement("footer");
  const by = document.createElement("span");
  by.textContent = note.by;
  const remove = document.createElement("button");
  remove.textContent = "remove";
  remove.addEventListener("click", () => request({ do: "remove", id: note.id }));
  footer.append(by, remove);
  made.append(words, footer);
  made.addEventListener("pointerdown", (event) => {
    if (event.target !== remove) drag(event, made, (x, y) => request({ do: "move", id: note.id, x, y }));
  });
  return made;
}

function drag(down, made, dropped) {
  const from = { x: made.offsetLeft - down.clientX, y: made.offsetTop - down.clientY };
  made.setPointerCapture(down.pointerId);
  made.classList.add("dragged");
  const move = (event) => {
    made.style.left = `${event.clientX + from.x}px`;
    made.style.top = `${event.clientY + from.y}px`;
  };
  const drop = () => {
    made.removeEventListener("pointermove", move);
    made.classList.remove("dragged");
    const share = (part, whole) => Math.min(1, Math.max(0, part / whole));
    dropped(share(made.offsetLeft, board.clientWidth), share(made.offsetTop, board.clientHeight));
  };
  made.addEventListener("pointermove", move);
  made.addEventListener("pointerup", drop, { once: true });
  made.addEventListener("pointercancel", drop, { once: true });
}

function onAdd(request) {
  document.getElementById("add").addEventListener("submit", (event) => {
    event.preventDefault();
    request({ do: "add", text: document.getElementById("text").value, color: document.getElementById("color").value });
    event.target.reset();
  });
}

// -- the page that keeps the board -----------------------------------------------------------------
async function keep(controller) {
  let notes = controller.getView()?.notes ?? [];
  const nameOf = (who) => controller.getParticipants().find((person) => person.id === who)?.name ?? who;
  const act = (action, by) => {
    const nextId = 1 + Math.max(0, ...notes.map((note) => note.id));
    const after = applied(notes, action, by, nextId);
    if (after === notes) return;
    notes = after;
    publish();
  };
  const publish = () => {
    show(notes, (action) => act(action, "the board"));
    controller.broadcast({ [KEY]: "view", view: { notes } });
  };
  controller.onMessage((data, from) => {
    if (data?.[KEY] === "act") act(data.action, nameOf(from));
  });
  onAdd((action) => act(action, "the board"));
  for (const [name, schema] of Object.entries(SCHEMAS)) await controller.registerSchema(name, "1", schema);
  publish();
  status.textContent = "this page keeps the board";
}

// -- everybody else --------------------------------------------------------------------------------
function join(controller) {
  const session = globalThis.Kibitz.createAgent(controller);
  const refused = (error) => (status.textContent = error.message);
  const request = (action) => Promise.resolve(session.act(action)).catch(refused);
  const view = (shown) => shown && show(shown.notes, request);
  onAdd(request);
  session.onView(view);
  view(session.getView());
  status.textContent = "connected";
}

// -- start -----------------------------------------------------------------------------------------
async function start() {
  const asked = new URLSearchParams(location.search);
  const house = asked.get("house") ?? "http://127.0.0.1:8724";
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search); // the token stays out of the address bar
  await new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = new URL("kibitz.global.js", house.replace(/\/?$/, "/"));
    script.onload = loaded;
    script.onerror = () => failed(new Error(`no house answers at ${house}`));
    document.head.append(script);
  });
  const controller = await globalThis.Kibitz.connect(house, token, asked.get("room") ?? undefined);
  const me = await controller.call("whoami");
  await (me.grant.act.includes("publish") ? keep(controller) : join(controller));
}

start().catch((error) => (status.textContent = error.message));
