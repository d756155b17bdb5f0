// The list of the rooms that the visitor is a member of or can join.

import { POLL_MS } from "./connection.js";
import { h, memberName } from "./dom.js";
import { Thumbnails } from "./thumbnails.js";

const PACES = { turns: "in turns", rounds: "in rounds", clock: "in real time" };

export class RoomsScreen {
  /**
   * `open(room)`: show a room of ours. `join(room)`: become a member first; rejects with a Refusal. `create()`: make one.
   */
  constructor(connection, open, join, create) {
    this.connection = connection;
    this.open = open;
    this.join = join;
    this.list = h("ul", { class: "rooms" });
    this.note = h("p", { class: "muted", role: "status" }, "Loading …");
    this.heading = h("h1", { tabindex: "-1" }, "Rooms");
    this.create = h("button", { class: "create-room", hidden: true, onclick: () => create() }, "Create a room");
    this.element = h("section", { class: "card narrow wide" }, this.heading, this.note, this.list, this.create);
    this.thumbnails = new Thumbnails((room) => connection.call("thumbnail", {}, room));
    this.polling = setInterval(() => this.start(), POLL_MS);
  }

  focus() {
    this.heading.focus();
  }

  stop() {
    clearInterval(this.polling);
    this.thumbnails.stop();
  }

  async start() {
    try {
      const { rooms } = await this.connection.call("rooms");
      this.farewell = null;
      this.draw(rooms);
      this.mayCreate ??= (await this.connection.call("capabilities")).commands.some((command) => command.name === "create_room");
      this.create.hidden = !this.mayCreate;
    } catch (error) {
      if (error.code !== "LOST") this.note.textContent = error.message;
    }
  }

  draw(rooms) {
    const drawn = JSON.stringify(rooms);
    if (drawn === this.drawn) return; // so that the focus stays where it is
    this.drawn = drawn;
    this.note.textContent = "You have no rooms yet. Create one or ask a host for an invite link.";
    this.note.hidden = rooms.length > 0;
    this.list.replaceChildren(...rooms.map((room) => this.line(room)));
    this.thumbnails.drawn(rooms.filter((room) => room.has_thumbnail).map(({ id }) => id));
  }

  line(room) {
    const details = [
      room.here === undefined ? `${room.members} ${room.members === 1 ? "member" : "members"}` : `${room.here} of ${room.members} members online`,
      room.bots && (room.bots === 1 ? "1 built-in player" : `${room.bots} built-in players`),
      room.you ? `your role: ${room.you}` : "you can join",
      room.archived && "archived",
    ];
    const players = (room.players ?? []).map(({ name, bot }) => h("span", { class: "player" }, memberName(name), bot && h("span", { class: "badge soft" }, "built-in")));
    const seats = room.free_seats && (room.free_seats === 1 ? "1 free seat" : `${room.free_seats} free seats`);
    const about = [room.title || room.world, ![room.world, room.id].includes(room.scenario) && room.scenario, `game ${room.game}${room.over ? ", over" : ""}`, PACES[room.pace]];
    const broken = room.world === "?"; // it could not be opened, and `problem` says why
    return h(
      "li", {},
      h("button", { class: "room", disabled: broken, onclick: () => this.select(room) },
        room.has_thumbnail && this.thumbnails.of(room.id),
        h("strong", {}, room.id),
        !broken && h("span", {}, about.filter(Boolean).join(" · ")),
        !broken && h("span", { class: "muted" }, details.filter(Boolean).join(" · ")),
        !broken && (players.length > 0 || seats) && h("span", { class: "players" }, ...players, seats && h("span", { class: "muted" }, seats)),
        !broken && h("span", { class: "way" }, wayIn(room)),
        room.problem && h("span", { class: "error" }, room.problem),
      ),
    );
  }

  async select(room) {
    if (room.you) {
      this.open(room.id);
      return;
    }
    try {
      await this.join(room.id);
    } catch (error) {
      if (error.code === "LOST") return;
      this.note.hidden = false;
      this.note.textContent = error.message;
    }
  }
}

/** What opening the room does: we play in it, watch it, or become a member first. */
function wayIn(room) {
  if (!room.you) return "Join";
  return room.plays ? "Play" : "Watch";
}
