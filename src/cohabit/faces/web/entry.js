// For members who manage a room: the entry policy, the join link and its code, listed names and keys, and blocked members.

import { escapeInvisible, h, setText, throttled } from "./dom.js";
import { LinkBox, joinLink } from "./share.js";

export class Entry {
  /** `call(command, args)` is a call in this room. `onChange()`: the policy has changed. */
  constructor(call, room, onChange) {
    this.call = call;
    this.room = room;
    this.known = [];
    this.onChange = onChange;
    this.lobby = this.switch("lobby", "Lobby", "Newcomers wait until a host admits them, including those with an invite.");
    this.locked = this.switch("locked", "Lock the room", "No newcomers can join. Members stay, and can return.");
    this.open = this.switch("open", "Open link", "Anyone who has the link below can join under a name of their own, to play and to chat.");
    this.link = new LinkBox("Join link", { qr: false });
    this.code = h("p", { class: "code", role: "status" });
    this.codeButton = h("button", { type: "button", onclick: () => this.set({ code: "new" }) }, "Make a new code");
    this.noCode = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.set({ code: "" }) }, "Remove the code");
    this.names = h("textarea", { id: "entry-names", rows: "2", spellcheck: "false", "aria-describedby": "entry-names-about" });
    this.keys = h("ul", { class: "invites" });
    this.label = h("input", { id: "key-label", maxlength: "64", autocomplete: "off", spellcheck: "false" });
    this.key = h("textarea", { id: "key-jwk", rows: "3", required: true, spellcheck: "false", "aria-describedby": "entry-keys-about" });
    this.blocked = h("ul", { class: "invites" });
    this.blockedPart = h("section", { hidden: true, "aria-label": "Blocked" }, h("h3", {}, "Blocked"), this.blocked);
    this.result = h("p", { class: "result error", role: "status" });
    this.element = h("div", { class: "entry-panel" },
      this.lobby.element, this.locked.element, this.open.element,
      h("p", { class: "switch" }, h("span", {}, h("strong", {}, "Code"), h("span", { class: "muted" }, "Anyone who knows the code can join by the link below.")),
        h("span", { class: "buttons" }, this.codeButton, this.noCode)),
      this.code, this.link.element, this.namesForm(), this.keysForm(), this.blockedPart, this.result);
    this.refresh = throttled(() => this.fetch(), 500);
  }

  namesForm() {
    return section("Listed names", () => this.set({ names: lines(this.names.value) }),
      h("label", { for: "entry-names" }, "Names, one on each line"), this.names,
      h("p", { class: "muted", id: "entry-names-about" }, "They join by the link above and their name alone. A name proves nothing: use it among friends."),
      h("button", {}, "Save the names"));
  }

  keysForm() {
    return section("Agent keys", () => this.addKey(), this.keys,
      h("label", { for: "key-label" }, "Name of the agent"), this.label,
      h("label", { for: "key-jwk" }, "Its public key (a JWK)"), this.key,
      h("p", { class: "muted", id: "entry-keys-about" }, "An agent with a listed key needs no invite. It only watches until you allow more."),
      h("button", {}, "Add the key"));
  }

  async addKey() {
    let key;
    try {
      key = JSON.parse(this.key.value);
    } catch {
      setText(this.result, 'A public key is JSON, such as {"kty": "EC", "crv": "P-256", "x": "…", "y": "…"}.');
      return;
    }
    if (!await this.set({ agent_keys: [...this.known, { key, label: this.label.value.trim() }] })) return;
    this.key.value = this.label.value = "";
  }

  switch(name, title, text) {
    const input = h("input", { type: "checkbox", role: "switch", onchange: () => this.set({ [name]: input.checked }) });
    return { input, element: h("label", { class: "switch" }, h("span", {}, h("strong", {}, title), h("span", { class: "muted" }, text)), input) };
  }

  /** Change the policy; true if the house has taken it. */
  async set(change) {
    setText(this.result, "");
    try {
      const { entry, link, code } = await this.call("set_entry", change);
      this.address = link;
      this.draw(entry);
      if ("code" in change) setText(this.code, code ? `The code is ${code}. It is not shown again.` : "");
      this.onChange();
      return true;
    } catch (error) {
      setText(this.result, error.message);
      this.drawn = null;
      this.refresh();
      return false;
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
    if (document.activeElement !== this.names) this.names.value = entry.names.join("\n");
    this.known = entry.agent_keys;
    this.keys.replaceChildren(...this.known.map((known) => {
      const name = escapeInvisible(known.label || known.key.x);
      return h("li", {}, h("span", {}, name, h("span", { class: "muted" }, known.may ? ` ${known.may.length} permissions` : " watch only")),
        h("button", { type: "button", class: "quiet", "aria-label": `Take the key of ${name} off the list`, onclick: () => this.set({ agent_keys: this.known.filter((other) => other !== known) }) }, "Remove"));
    }));
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

function section(title, submit, ...content) {
  const form = h("form", { class: "words-form" }, ...content);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return h("section", { "aria-label": title }, h("h3", {}, title), form);
}

function lines(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}
