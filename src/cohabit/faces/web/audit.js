// The audit feed: refused calls and changes of what members may see or do, newest first.

import { escapeInvisible, h, memberName, throttled, timestamp } from "./dom.js";

const SHOWN = 100;

export class AuditFeed {
  /** `call(command, args)` is a call in this room. */
  constructor(call) {
    this.call = call;
    this.filter = h("select", { id: "audit-member", onchange: () => this.fetch() });
    this.field = h("p", { class: "field", hidden: true }, h("label", { for: "audit-member" }, "Member"), this.filter);
    this.about = h("p", { class: "muted" });
    this.empty = h("p", { class: "muted" }, "Nothing yet.");
    this.list = h("ol", { class: "audit", tabindex: "0", "aria-label": "Audit" });
    this.element = h("div", { class: "audit-panel" }, this.about, this.field, this.empty, this.list);
    this.refresh = throttled(() => this.fetch(), 700);
  }

  draw(me, session) {
    this.isHost = me.grant.act.includes("manage_members");
    this.field.hidden = !this.isHost;
    this.about.textContent = this.isHost
      ? "Refused calls, and changes of what members may see or do."
      : "Your refused calls, and changes of what you may see or do.";
    const handles = (session?.members ?? []).map((m) => m.handle);
    const drawn = JSON.stringify(handles);
    if (drawn === this.drawnHandles) return;
    this.drawnHandles = drawn;
    const selected = this.filter.value;
    this.filter.replaceChildren(h("option", { value: "" }, "everybody"), ...handles.map((handle) => h("option", { value: handle }, escapeInvisible(handle))));
    this.filter.value = handles.includes(selected) ? selected : "";
  }

  async fetch() {
    const args = { max: SHOWN, ...(this.isHost && this.filter.value ? { member: this.filter.value } : {}) };
    try {
      const [{ refusals }, { changes }] = [await this.call("audit", args), await this.call("audit_log", args)];
      this.drawList([...refusals.map((refusal) => ({ ...refusal, refused: true })), ...changes].sort((a, b) => b.at - a.at).slice(0, SHOWN));
    } catch (error) {
      if (error.code !== "LOST") this.drawList([]);
    }
  }

  drawList(lines) {
    const drawn = JSON.stringify(lines);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.empty.hidden = lines.length > 0;
    this.list.hidden = !lines.length;
    this.list.replaceChildren(...lines.map((line) => h("li", { "data-kind": line.refused ? "refused" : line.kind }, timestamp(line.at), ...(line.refused ? refusal(line) : change(line)))));
  }
}

function refusal({ member, command, code, reason, count = 1 }) {
  const times = count > 1 ? ` (${count} times)` : "";
  const handle = member.split("#")[0]; // members who came later with the same handle have a number
  return [h("span", { class: "badge" }, "refused"), h("p", {}, memberName(handle), ` called ${escapeInvisible(command)}${times}: `, h("span", { title: code }, escapeInvisible(reason)))];
}

function change({ kind, text }) {
  return [h("span", { class: "badge soft" }, kind), h("p", {}, escapeInvisible(text))];
}
