// The rooms that this token may see.

import { h } from "./dom.js";
import { BEAT_MS } from "./link.js";

export class RoomsScreen {
  constructor(link, open) {
    this.link = link;
    this.open = open;
    this.list = h("ul", { class: "rooms" });
    this.note = h("p", { class: "muted", role: "status" }, "Looking …");
    this.heading = h("h1", { tabindex: "-1" }, "Rooms");
    this.element = h("section", { class: "card narrow wide" }, this.heading, this.note, this.list);
    this.beat = setInterval(() => this.start(), BEAT_MS);
  }

  focus() {
    this.heading.focus();
  }

  stop() {
    clearInterval(this.beat);
  }

  async start() {
    try {
      const { rooms } = await this.link.call("rooms");
      this.draw(rooms);
    } catch (error) {
      if (error.code !== "LOST") this.note.textContent = error.message;
    }
  }

  draw(rooms) {
    const drawn = JSON.stringify(rooms);
    if (drawn === this.drawn) return; // leave focus where it is
    this.drawn = drawn;
    this.note.textContent = rooms.length ? "" : "There is no room for you here yet.";
    this.note.hidden = rooms.length > 0;
    this.list.replaceChildren(...rooms.map((room) => this.line(room)));
  }

  line(room) {
    const people = `${room.here} of ${room.members} here`;
    const role = room.you ? `you: ${room.you}` : "open to guests";
    return h(
      "li", {},
      h("button", { class: "room", disabled: room.world === "?", onclick: () => this.enter(room) },
        h("strong", {}, room.id),
        h("span", {}, `${room.world} · ${room.scenario} · game ${room.game}`),
        h("span", { class: "muted" }, [people, role, room.archived && "archived"].filter(Boolean).join(" · ")),
        room.problem && h("span", { class: "error" }, room.problem),
      ),
    );
  }

  async enter(room) {
    try {
      if (!room.you) await this.link.call("join", {}, room.id);
      this.open(room.id);
    } catch (error) {
      this.note.hidden = false;
      this.note.textContent = error.message;
    }
  }
}
