// The form for visitors who did not open a link with a token.

import { h } from "./dom.js";

export class SignInScreen {
  /**
   * `message`: why the visitor has to sign in. `signIn(token, room)`: the room is known if a whole link was entered.
   * `openData()`: show what the house keeps of a visitor who has left.
   */
  constructor(message, signIn, openData = null) {
    this.input = h("input", {
      id: "token", type: "password", required: true, autocomplete: "off", spellcheck: "false",
      autocapitalize: "off", "aria-describedby": "token-help token-error",
    });
    const error = h("p", { id: "token-error", class: "error", role: "alert" }, message ?? "");
    const form = h(
      "form", { class: "stack" },
      h("label", { for: "token" }, "Your token or invite link"), this.input,
      h("p", { id: "token-help", class: "muted" }, "A host of the room can give you one. It is kept in this tab only."),
      error,
      h("button", { class: "primary" }, "Sign in"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const { token, room } = parse(this.input.value.trim());
      if (token) signIn(token, room);
      else error.textContent = "This link contains no token. Copy the whole link, including the part after the #.";
    });
    const data = openData && h("p", { class: "buttons" }, "You can still see and delete what this house keeps of you. ", h("button", { type: "button", onclick: () => openData() }, "Your data"));
    this.element = h("section", { class: "card narrow" }, h("h1", {}, "Sign in"), form, data);
  }

  focus() {
    this.input.focus();
  }
}

/** A token, or a link such as https://house/?room=nim#TOKEN. */
function parse(text) {
  if (!/^https?:\/\//.test(text)) return { token: text.replace(/^#/, "") };
  try {
    const url = new URL(text);
    return { token: decodeURIComponent(url.hash.slice(1)), room: url.searchParams.get("room") };
  } catch {
    return { token: "" };
  }
}
