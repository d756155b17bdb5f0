// For members who manage a room: the one link with which anybody watches it, without a name.

import { h, setText } from "./dom.js";
import { LinkBox, linkTo } from "./share.js";

const NOTE = "Copy this link now; it is not shown again.";
const EXISTS = "There is a watch link. It is not shown again; a new one replaces it.";

export class WatchLink {
  /** `call(command, args)` is a call in this room. `run(button, work)` does something, and shows what failed. */
  constructor(call, room, run) {
    this.call = call;
    this.room = room;
    this.exists = h("p", { class: "muted", hidden: true }, EXISTS);
    this.link = new LinkBox("Watch link");
    this.button = h("button", { type: "button", class: "primary", onclick: () => run(this.button, () => this.create()) });
    this.off = h("button", { type: "button", hidden: true, onclick: () => run(this.off, () => this.end()) }, "Turn off");
    this.element = h("section", { "aria-label": "Watch link" }, h("h3", {}, "Anybody may watch"),
      h("p", { class: "muted" }, "Anyone who has this link watches without a name, and sees what is public. You can publish it."),
      this.exists, h("p", { class: "link-row" }, this.button, this.off), this.link.element);
    this.draw(false);
  }

  async create() {
    const { token, link } = await this.call("watch_link");
    this.link.show(linkTo(this.room, token, link), NOTE);
    this.draw(true);
    this.link.field.focus();
  }

  async end() {
    await this.call("watch_link", { off: true });
    this.draw(false);
    this.button.focus();
  }

  /** `isOn`: whether there is such a link. */
  draw(isOn) {
    if (!isOn) this.link.hide();
    this.off.hidden = !isOn;
    this.exists.hidden = !isOn || !this.link.element.hidden;
    setText(this.button, isOn ? "Create a new watch link" : "Create a watch link");
    this.button.classList.toggle("primary", !isOn);
  }
}
