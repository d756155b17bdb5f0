// For hosts of the house: create a room from a scenario or a world, and get the links for everybody.

import { escapeInvisible, h, setText } from "./dom.js";
import { GamePicker } from "./games.js";
import { LinkBox, agentText, handleFor, inviteSpectators, linkTo } from "./share.js";

const NAMES = ["ada", "bob", "cleo", "dan", "eve", "finn", "gus", "hana"];
const idOf = (name) => name.trim().toLowerCase().replace(/\s+/g, "-"); // people write names, rooms have ids
const PERSON = "person", AGENT = "agent"; // they get a link

export class CreateRoomScreen {
  hasWayBack = true; // to the list of rooms

  /** `open(room)`: show a room. `cancel()`: back to the list. */
  constructor(connection, open, cancel) {
    this.connection = connection;
    this.open = open;
    this.what = h("select", { id: "create-what", onchange: () => this.drawChoice() });
    this.games = new GamePicker(connection, () => this.drawWorld());
    this.about = h("p", { class: "muted" });
    this.players = h("div", { class: "create-players", role: "group", "aria-label": "Players" });
    this.add = h("button", { type: "button", class: "quiet", onclick: () => this.addPlayer() }, "Add a player");
    this.playersPart = h("div", { class: "stack", hidden: true }, h("h2", {}, "Players"), this.players, this.add);
    this.room = h("input", { id: "create-room", maxlength: "63", autocomplete: "off", spellcheck: "false", autocapitalize: "off", placeholder: "chosen for you", onchange: () => { this.room.value = idOf(this.room.value); } });
    this.seed = h("input", { id: "create-seed", autocomplete: "off", spellcheck: "false", placeholder: "random" });
    this.seedField = h("div", { class: "stack", hidden: true }, h("label", { for: "create-seed" }, "Seed"), this.seed);
    this.delay = h("input", { id: "create-delay", type: "number", min: "1", max: "10000", placeholder: "never" });
    this.delayField = h("div", { class: "stack", hidden: true }, h("label", { for: "create-delay" }, "Spectators see everything, this many steps later"), this.delay);
    this.problem = h("p", { class: "error", role: "alert" });
    this.button = h("button", { class: "primary" }, "Create the room");
    this.form = h("form", { class: "stack" },
      h("label", { for: "create-what" }, "Scenario or world"), this.what, this.games.element, this.about, this.playersPart,
      h("label", { for: "create-room" }, "Name of the room"), this.room, this.seedField, this.delayField, this.problem,
      h("div", { class: "buttons" }, this.button, h("button", { type: "button", onclick: () => cancel() }, "Cancel")));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.links = h("div", { class: "stack", hidden: true });
    this.heading = h("h1", { tabindex: "-1" }, "Create a room");
    this.element = h("section", { class: "card narrow wide create" }, this.heading, this.form, this.links);
    this.worlds = new Map();
  }

  focus() {
    this.heading.focus();
  }

  async start() {
    if (this.worlds.size) return;
    try {
      const { worlds, scenarios, libraries } = await this.connection.call("worlds");
      this.worlds = new Map(worlds.map((world) => [`world ${world.name}`, world]));
      this.what.replaceChildren(
        h("optgroup", { label: "Worlds" }, worlds.map(({ name, title }) => h("option", { value: `world ${name}` }, title))),
        h("optgroup", { label: "Scenarios" }, scenarios.map((name) => h("option", { value: `scenario ${name}` }, name))),
        libraries.length ? h("optgroup", { label: "Libraries of games" }, libraries.map(({ name, description }) => h("option", { value: `library ${name}` }, description))) : "");
      this.drawChoice();
    } catch (error) {
      if (error.code !== "LOST") setText(this.problem, error.message);
    }
  }

  async drawChoice() {
    const [kind, name] = this.what.value.split(" ");
    setText(this.problem, "");
    try {
      await this.games.show(kind === "library" ? name : null);
    } catch (error) {
      if (error.code !== "LOST") setText(this.problem, error.message);
    }
    this.drawWorld();
  }

  /** The world that is chosen; undefined if that is a scenario, or a game is still to be chosen. */
  get world() {
    return this.worlds.get(this.what.value) ?? this.games.chosen;
  }

  drawWorld() {
    const { world } = this;
    this.button.disabled = !world && this.what.value.startsWith("library ");
    setText(this.about, world?.description ?? (this.button.disabled ? "Choose a game." : "A ready-made room with its own players."));
    const hasGame = world?.players[1] > 0;
    this.playersPart.hidden = !hasGame;
    this.seedField.hidden = !hasGame || !world.takes_seed;
    this.delayField.hidden = !hasGame || world.takes_seed; // there something is hidden
    this.players.replaceChildren();
    if (!hasGame) return;
    const [fewest, most] = world.players;
    for (let i = 0; i < Math.max(fewest, Math.min(2, most)); i++) this.addPlayer();
  }

  addPlayer() {
    const { players: [fewest, most], brains = [] } = this.world;
    const count = this.players.childElementCount;
    const name = h("input", { "aria-label": "Name of the player", required: true, maxlength: "64", autocomplete: "off", spellcheck: "false", value: NAMES[count] ?? `player-${count + 1}` });
    const brain = h("select", { "aria-label": "Played by" },
      h("option", { value: PERSON }, "a person"), h("option", { value: AGENT }, "an agent from outside"), h("optgroup", { label: "Built-in players" }, brains.map((brain) => h("option", { value: brain }, brain))));
    const changed = () => {
      const count = this.players.childElementCount;
      this.add.hidden = count >= most;
      for (const button of this.players.querySelectorAll("button")) {
        button.disabled = count <= fewest;
        button.title = button.disabled ? `This world needs ${fewest === 1 ? "a player" : `${fewest} players`}.` : "";
      }
    };
    const remove = h("button", { type: "button", class: "quiet", "aria-label": "Remove this player", onclick: () => {
      row.remove();
      changed();
    } }, "×");
    const row = h("div", { class: "create-player" }, name, brain, remove);
    this.players.append(row);
    changed();
  }

  arguments() {
    const [kind, ...name] = this.what.value.split(" ");
    const rows = [...this.players.children].map((row) => ({ name: handleFor(row.querySelector("input").value), brain: row.querySelector("select").value }));
    const args = kind === "scenario" ? { scenario: name.join(" ") } : { world: this.world.name };
    if (this.room.value.trim()) args.room = idOf(this.room.value);
    if (kind === "scenario") return args;
    args.players = rows.map((row) => row.name);
    args.people = rows.filter((row) => row.brain === PERSON).map((row) => row.name);
    args.brains = Object.fromEntries(rows.filter((row) => ![PERSON, AGENT].includes(row.brain)).map((row) => [row.name, row.brain]));
    const seed = this.seed.value.trim();
    if (seed && !this.seedField.hidden) args.seed = /^\d+$/.test(seed) ? Number(seed) : seed;
    if (this.delay.value && !this.delayField.hidden) args.spectator_delay = Number(this.delay.value);
    return args;
  }

  async submit() {
    if (this.button.disabled) return;
    this.button.disabled = true;
    setText(this.problem, "");
    try {
      const args = this.arguments();
      const { room, tokens } = await this.connection.callOnce("create_room", args);
      await this.showLinks(room, tokens, args);
    } catch (error) {
      setText(this.problem, error.message);
    } finally {
      this.button.disabled = false;
    }
  }

  async showLinks(room, tokens, { players = [], people = [], brains = {} }) {
    const spectators = new LinkBox("Link for spectators");
    const { code: token, link } = await inviteSpectators((command, args) => this.connection.call(command, args, room));
    spectators.show(linkTo(room, token, link), "For people who only watch. Send it to as many as you like.");
    const parts = Object.entries(tokens).filter(([name]) => !brains[name]).flatMap(([name, token]) => {
      const box = new LinkBox(`Link for ${escapeInvisible(name)}`, { qr: false, hint: false });
      const prefix = link.split("/?")[0];
      const address = linkTo(room, token, /^https?:/.test(prefix) ? `${prefix}/?room=${encodeURIComponent(room)}#${token}` : "");
      box.show(address, escapeInvisible(name));
      return players.includes(name) && !people.includes(name) ? [box.element, agentText(room, token, address)] : [box.element];
    });
    setText(this.heading, `The room ${room} is ready`);
    this.form.hidden = true;
    this.links.hidden = false;
    this.links.replaceChildren(
      h("p", { class: "muted" }, "Copy the links now; they are not shown again. You can create others in the room."),
      h("h2", {}, "Spectators"), spectators.element,
      ...(parts.length ? [h("h2", {}, "Players"),
        h("p", { class: "muted" }, "In a sealed room, the link for a person can be opened once: from then on it works only in that browser, and no longer for you. You still know the token of an agent until the agent replaces it."), ...parts] : []),
      h("button", { type: "button", class: "primary", onclick: () => this.open(room) }, "Open the room"));
    this.heading.focus();
  }
}
