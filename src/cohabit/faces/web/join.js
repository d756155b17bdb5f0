// The screens for people who are not members yet: a form for a name and a code, then the lobby.

import { escapeInvisible, h, setText } from "./dom.js";

const WAIT_MS = 20_000;
const TEXTS = {
  waiting: "Waiting for a host to let you in … Keep this page open.",
  locked: "This room is locked. Waiting for a host to unlock it … Keep this page open.",
  denied: "A host has denied you entry.",
};

/** The content of an invite, not verified: the house does that. Null: the token is no invite. */
export function readInvite(token) {
  const [body, signature, ...more] = (token ?? "").split(".");
  if (!signature || more.length) return null;
  try {
    const bytes = Uint8Array.from(atob(body.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    const said = JSON.parse(new TextDecoder().decode(bytes));
    return said && typeof said.room === "string" && typeof said.jti === "string" ? { uses: 1, ...said } : null;
  } catch {
    return null;
  }
}

export class JoinScreen {
  /**
   * `invite`: its token; null: the room is open, or has a code. `onToken(token, name)`: we are in, or wait, with this
   * token. `known`: the member who joined before in this browser, `{ name, signIn() }`. `said`: what the invite gives.
   */
  constructor(room, invite, onToken, known, said = readInvite(invite)) {
    this.room = room;
    this.invite = invite;
    this.onToken = onToken;
    this.name = h("input", { id: "join-name", required: true, maxlength: "64", autocomplete: "nickname", spellcheck: "false", "aria-describedby": "join-problem" });
    this.code = h("input", { id: "join-code", maxlength: "64", autocomplete: "off", spellcheck: "false", autocapitalize: "characters" });
    this.codeField = h("div", { class: "stack", hidden: invite !== null }, h("label", { for: "join-code" }, "Code, if you were given one"), this.code);
    this.problem = h("p", { id: "join-problem", class: "error", role: "alert" });
    this.button = h("button", { class: "primary" }, "Join");
    const watches = said?.may && !said.may.includes("act");
    const form = h("form", { class: "stack" },
      h("p", { class: "muted" }, watches ? "You were invited to watch. The others see the name that you choose." : "The others in the room see the name that you choose."),
      h("label", { for: "join-name" }, "Your name"), this.name, this.codeField, this.problem, this.button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.back = known && h("p", { class: "stack" }, h("button", { type: "button", class: "primary", onclick: known.signIn }, `Continue as ${escapeInvisible(known.name)}`), "Or join as somebody else:");
    this.element = h("section", { class: "card narrow join stack" }, h("h1", {}, `Join ${escapeInvisible(room)}`), this.back, form);
    if (said && said.exp * 1000 < Date.now()) setText(this.problem, "This invite has expired. Ask a host for a new one.");
  }

  focus() {
    this.name.focus();
  }

  async submit() {
    if (this.button.disabled) return;
    this.button.disabled = true;
    setText(this.problem, "");
    try {
      const code = this.code.value.trim();
      const name = this.name.value.trim();
      const { token } = await callOverHttp("join", { room: this.room, name, ...(this.invite && { invite: this.invite }), ...(code && { code }) });
      this.onToken(token, name);
    } catch (error) {
      this.showProblem(error.message);
    } finally {
      this.button.disabled = false;
    }
  }

  showProblem(text) {
    setText(this.problem, `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`);
    if (/\bcode\b/.test(text) && this.codeField.hidden) {
      this.codeField.hidden = false;
      this.code.focus();
    }
  }
}

/** Call a command without a connection: those who cannot sign in join, or see and delete their data. */
export async function callOverHttp(command, args = {}, token = null) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(`api/${command}`, { method: "POST", body: JSON.stringify(args), cache: "no-store", credentials: "omit", headers });
  const { ok, result, error } = await response.json();
  if (!ok) throw new Error(error?.message ?? "refused");
  return result;
}

export class LobbyScreen {
  /** `call(args)` calls `join` in this room. `onJoined()`: we are a member now. */
  constructor(room, status, call, onJoined) {
    this.call = call;
    this.onJoined = onJoined;
    this.heading = h("h1", { tabindex: "-1" }, escapeInvisible(room));
    this.text = h("p", { class: "waiting", role: "status" });
    this.again = h("button", { type: "button", hidden: true, onclick: () => this.start() }, "Check again");
    this.element = h("section", { class: "card narrow join stack" }, this.heading, this.text, this.again);
    this.draw(status);
  }

  focus() {
    this.heading.focus();
  }

  draw(status) {
    this.element.dataset.status = status;
    this.again.hidden = status !== "denied";
    setText(this.text, TEXTS[status] ?? status);
  }

  /** Ask again until a host has decided. It is called again after each reconnect. */
  async start() {
    const turn = (this.turn = {});
    while (!this.stopped && this.turn === turn) {
      try {
        const { status } = await this.call({ wait_ms: WAIT_MS });
        if (this.stopped || this.turn !== turn) return;
        if (status === "joined") return this.onJoined();
        this.draw(status);
        if (status === "denied") return;
      } catch (error) {
        if (error.code !== "LOST") this.draw(error.message);
        return;
      }
    }
  }

  stop() {
    this.stopped = true;
  }
}
