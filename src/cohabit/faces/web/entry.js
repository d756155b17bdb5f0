// For members who manage a room: the entry policy, the join link and its code, and blocked members.

import { escapeInvisible, h, setText, throttled } from "./dom.js";
import { LinkBox, joinLink } from "./share.js";

export class Entry {
  /** `call(command, args)` is a call in this room. `onChange()`: the policy has changed. */
  constructor(call, room, onChange) {
    this.call = call;
    this.room = room;
    this.onChange = onChange;
    this.lobby = this.switch("lobby", "Lobby", "Newcomers wait until a host admits them, including those with an invite.");
    this.locked = this.switch("locked", "Lock the room", "No newcomers can join. Members stay, and can return.");
    this.open = this.switch("open", "Open link", "Anyone who has the link below can join under a name of their own, to play and to chat.");
    this.link = new LinkBox("Join link", { qr: false });
    this.code = h("p", { class: "code", role: "status" });
    this.codeButton = h("button", { type: "button", onclick: () => this.set({ code: "new" }) }, "Make a new code");
    this.noCode = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.set({ code: "" }) }, "Remove the code");
    this.blocked = h("ul", { class: "invites" });
    this.blockedPart = h("section", { hidden: true, "aria-label": "Blocked" }, h("h3", {}, "Blocked"), this.blocked);
    this.result = h("p", { class: "result error", role: "status" });
    this.element = h("div", { class: "entry-panel" },
      this.lobby.element, this.locked.element, this.open.element,
      h("p", { class: "switch" }, h("span", {}, h("strong", {}, "Code"), h("span", { class: "muted" }, "Anyone who knows the code can join by the link below.")),
        h("span", { class: "buttons" }, this.codeButton, this.noCode)),
      this.code, this.link.element, this.blockedPart, this.result);
    this.refresh = throttled(() => this.fetch(), 500);
  }

  switch(name, title, text) {
    const input = h("input", { type: "checkbox", role: "switch", onchange: () => this.set({ [name]: input.checked }) });
    return { input, element: h("label", { class: "switch" }, h("span", {}, h("strong", {}, title), h("span", { class: "muted" }, text)), input) };
  }

  async set(change) {
    setText(this.result, "");
    try {
      const { entry, link, code } = await this.call("set_entry", change);
      this.address = link;
      this.draw(entry);
      if ("code" in change) setText(this.code, code ? `The code is ${code}. It is not shown again.` : "");
      this.onChange();
    } catch (error) {
      setText(this.result, error.message);
      this.drawn = null;
      this.refresh();
    }
  }

  async fetch() {
    try {
      this.draw(await this.call("entry"));
    } catch {
      // Lost, or no longer permitted: the next draw decides.
    }
  }

  /** `entry`: the reply of entry. */
  draw(entry) {
    const drawn = JSON.stringify(entry);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.lobby.input.checked = entry.lobby;
    this.locked.input.checked = entry.locked;
    this.open.input.checked = entry.open;
    setText(this.codeButton, entry.code ? "Replace the code" : "Make a new code");
    this.noCode.hidden = !entry.code;
    if (entry.open || entry.code || entry.names.length) this.link.show(joinLink(this.room, this.address));
    else this.link.hide();
    this.blockedPart.hidden = !entry.blocked.length;
    this.blocked.replaceChildren(...entry.blocked.map((handle) => {
      const name = escapeInvisible(handle);
      return h("li", {}, h("span", {}, name), h("button", { type: "button", class: "quiet", "aria-label": `Unblock ${name}`, onclick: () => this.unblock(handle) }, "Unblock"));
    }));
  }

  async unblock(member) {
    try {
      await this.call("unblock", { member });
      await this.fetch();
    } catch (error) {
      setText(this.result, error.message);
    }
  }
}
