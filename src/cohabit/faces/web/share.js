// Links to give to others: a field with the link, a button that copies it, and its QR code.

import { h, setText } from "./dom.js";

const LOOPBACK = /^(localhost|127\.|\[::1\])/;
const COPIED_MS = 2_000;

/** The capabilities of spectators: they perceive, and can do nothing. */
export const SPECTATOR = ["watch", "read_roster", "read_chat", "receive_directed", "see_screen", "hear_audio", "read_media", "read_files"];
const MAX_SPECTATORS = 1_000;
const NOT_IN_HANDLES = /[\s()/#]+/g;

/** The handle of a member with this name: people write names with spaces, handles have none. */
export function handleFor(name) {
  return name.trim().replace(NOT_IN_HANDLES, "-").replace(/^-|-$/g, "");
}

/** Create the invite of a spectators' link, with `call` in its room. It can be accepted many times. */
export function inviteSpectators(call, expires_in_s = undefined) {
  return call("invite", { id: "spectator", kind: "human", may: SPECTATOR, uses: MAX_SPECTATORS, expires_in_s });
}

/** A link to a room: under the public address if the house knows it, else under the address of this page. */
export function linkTo(room, token, fromHouse = "") {
  if (/^https?:/.test(fromHouse)) return fromHouse;
  return `${location.origin}${location.pathname}?room=${encodeURIComponent(room)}#${token}`;
}

/** A link of a room that newcomers may enter without an invite. */
export function joinLink(room, fromHouse = "") {
  if (/^https?:/.test(fromHouse)) return fromHouse;
  return `${location.origin}${location.pathname}?join=${encodeURIComponent(room)}`;
}

/** What to tell an agent: it needs an address and a token rather than a page. `invited`: the token is that of an invite. */
export function agentText(room, token, link, invited = false) {
  const server = `connect to the MCP server ${link.split("?")[0]}mcp/${encodeURIComponent(room)} with the bearer token ${token}`;
  const text = invited
    ? `Join the room ${room}: ${server} and call join first. If the reply has another token, connect with that one from then on; if you cannot, pass keep_token to join.`
    : `Play in the room ${room}: ${server}.`;
  return h("p", { class: "agent-text" }, h("span", {}, "Or give the agent this text: "), h("code", {}, text), copyButton(() => text, "Copy text"));
}

/** A button that copies what `text()` returns, and says so. */
export function copyButton(text, label = "Copy") {
  const button = h("button", { type: "button", class: "copy", "aria-live": "polite", onclick: async () => {
    const copied = await copy(text());
    setText(button, copied ? "Copied" : "Press Ctrl+C");
    setTimeout(() => setText(button, label), COPIED_MS);
  } }, label);
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text); // needs TLS or a loopback address
    return true;
  } catch {
    const field = h("textarea", { class: "visually-hidden", readonly: true }, text);
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }
}

export class LinkBox {
  /** `label`: the purpose of the link. `qr`: show its QR code from the start. `hint`: explain where a local address works. */
  constructor(label, { qr = true, hint = true } = {}) {
    this.label = label;
    this.hasHint = hint;
    this.note = h("p", { class: "muted note" });
    this.field = h("input", { readonly: true, "aria-label": label, onfocus: () => this.select() });
    this.qr = h("div", { class: "qr-box", hidden: true });
    this.toggle = h("button", { type: "button", "aria-expanded": "false", onclick: () => this.showQr(this.qr.hidden) }, "QR code");
    this.local = h("p", { class: "muted", hidden: true },
      "This address works on this computer only. Open this page under the address of this computer in your network before you copy links.");
    this.wantsQr = qr;
    this.element = h("div", { class: "link-box", hidden: true },
      this.note, h("div", { class: "link-row" }, this.field, copyButton(() => this.field.value), this.toggle), this.local, this.qr);
  }

  show(link, note = "") {
    this.field.value = link;
    setText(this.note, note);
    this.note.hidden = !note;
    this.local.hidden = !this.hasHint || !LOOPBACK.test(new URL(link, location.href).hostname);
    this.element.hidden = false;
    this.showQr(this.wantsQr);
  }

  select() {
    this.field.select();
    requestAnimationFrame(() => (this.field.scrollLeft = 0)); // the beginning says more than the end
  }

  hide() {
    this.field.value = "";
    this.qr.replaceChildren();
    this.element.hidden = true;
  }

  async showQr(shown) {
    this.toggle.setAttribute("aria-expanded", String(shown));
    this.qr.hidden = !shown;
    if (!shown) return;
    const { qrImage } = await import("./qr.js"); // most visits do not need it
    if (this.field.value) this.qr.replaceChildren(qrImage(this.field.value, `QR code: ${this.label}`));
  }
}
