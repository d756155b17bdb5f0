// For members who manage a room: create invite links, and revoke those that nobody has accepted yet.

import { card, dateTime, escapeInvisible, h, setText, throttled } from "./dom.js";

export class Invites {
  /** `call(command, args)` is a call in this room. */
  constructor(call, room) {
    this.call = call;
    this.room = room;
    this.handle = h("input", { id: "invite-handle", required: true, maxlength: "64", autocomplete: "off", spellcheck: "false" });
    this.kind = h("select", { id: "invite-kind" },
      h("option", { value: "human" }, "person"), h("option", { value: "agent" }, "agent (watch-only)"));
    this.button = h("button", { class: "primary" }, "Create invite link");
    const form = h("form", { class: "invite-form" },
      h("label", { for: "invite-handle" }, "Name"), this.handle,
      h("label", { for: "invite-kind" }, "Kind"), this.kind, this.button);
    this.link = h("input", { readonly: true, "aria-label": "Invite link", onfocus: () => this.link.select() });
    this.created = h("div", { class: "invite-link", hidden: true }, this.link,
      h("p", { class: "muted" }, "Copy this link now; it is not shown again. Anyone who has it can enter the room as this member."));
    this.result = h("p", { class: "result error", role: "status" });
    this.list = h("ul", { class: "invites" });
    this.element = card("Invites", "invite-card", form, this.created, this.result, this.list);
    this.element.hidden = true;
    this.refresh = throttled(() => this.fetch(), 700);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.create();
    });
  }

  /** Show this card only to members who may use it. */
  draw(me) {
    const may = me.grant.act.includes("manage_members");
    if (may && this.element.hidden) this.refresh();
    this.element.hidden = !may;
  }

  async create() {
    if (this.button.disabled) return;
    this.button.disabled = true;
    await this.run(async () => {
      const { token } = await this.call("invite", { id: this.handle.value.trim(), kind: this.kind.value });
      this.link.value = `${location.origin}${location.pathname}?room=${encodeURIComponent(this.room)}#${token}`;
      this.created.hidden = false;
      this.handle.value = "";
      this.link.focus();
    });
    this.button.disabled = false;
  }

  async revoke(invite) {
    await this.run(() => this.call("revoke_invite", { invite }));
  }

  async run(work) {
    setText(this.result, "");
    try {
      await work();
      await this.refresh();
    } catch (error) {
      setText(this.result, error.message);
    }
  }

  async fetch() {
    try {
      const { invites } = await this.call("invites");
      this.drawList(invites);
    } catch {
      // Lost, or no longer permitted: the next draw decides.
    }
  }

  drawList(invites) {
    const drawn = JSON.stringify(invites);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.list.replaceChildren(...invites.map(({ invite, member, role, uses, expires_at }) => {
      const details = [role, uses > 1 && `${uses} uses left`, expires_at && `expires ${dateTime(expires_at)}`];
      const name = escapeInvisible(member);
      return h("li", {},
        h("span", {}, name, h("span", { class: "muted" }, ` ${details.filter(Boolean).join(" · ")}`)),
        h("button", { class: "quiet", "aria-label": `Revoke the invite for ${name}`, onclick: () => this.revoke(invite) }, "Revoke"));
    }));
  }
}
