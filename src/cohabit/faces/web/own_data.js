// What the house keeps of the visitor, and a button that deletes it.

import { confirmButton } from "./confirm.js";
import { h } from "./dom.js";

export class OwnDataScreen {
  hasWayBack = true; // to the list of rooms

  /** `deleted(text)`: everything was deleted, and the token is no longer valid. */
  constructor(connection, deleted) {
    this.connection = connection;
    this.deleted = deleted;
    this.heading = h("h1", { tabindex: "-1" }, "Your data");
    this.note = h("p", { class: "muted", role: "status" }, "Loading …");
    this.list = h("ul", {});
    this.raw = h("pre", { class: "own-data" });
    this.all = h("details", { hidden: true }, h("summary", {}, "Everything, as JSON"), this.raw);
    this.danger = h("p", {});
    this.element = h("section", { class: "card narrow wide" }, this.heading, this.note, this.list, this.all, this.danger);
  }

  focus() {
    this.heading.focus();
  }

  async start() {
    try {
      const data = await this.connection.call("my_data");
      this.draw(data);
    } catch (error) {
      if (error.code !== "LOST") this.note.textContent = error.message;
    }
  }

  draw(data) {
    const rooms = (data.rooms ?? []).map((room) => {
      const messages = room.messages?.length ?? 0;
      return `Room ${room.room}: ${room.handle ? `you are ${room.handle}` : room.waiting ? "you wait in the lobby" : "you have left"}, ${messages === 1 ? "1 message" : `${messages} messages`}`;
    });
    const lines = [`Name: ${data.name}`, data.profile ? "A profile of the Nexus" : null, ...rooms];
    this.list.replaceChildren(...lines.filter(Boolean).map((line) => h("li", {}, line)));
    this.raw.textContent = JSON.stringify(data, null, 2);
    this.all.hidden = false;
    this.note.textContent = data.note ?? "In records your moves stay, under a pseudonym.";
    this.danger.replaceChildren(
      confirmButton("Delete my data", "You leave all rooms, and your messages and your name are deleted. This cannot be undone.", "Delete", () => this.forget(data.name), { class: "danger" }),
    );
  }

  async forget(name) {
    this.farewell = "Your data was deleted. Rooms in use are cleaned when they are quiet."; // the token ends with it, maybe before the reply comes
    try {
      await this.connection.call("forget_me", { confirm: name });
      this.deleted(this.farewell);
    } catch (error) {
      if (error.code === "LOST") return;
      this.farewell = null;
      this.note.textContent = error.message;
    }
  }
}
