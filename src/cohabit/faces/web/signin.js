// The way in for somebody without a link.

import { h } from "./dom.js";

export class SignIn {
  /** `enter(token, room)`: what was typed; of a whole link, the token and the room in it. */
  constructor(message, enter) {
    this.input = h("input", {
      id: "token", type: "password", required: true, autocomplete: "off", spellcheck: "false",
      autocapitalize: "off", "aria-describedby": "token-help token-error",
    });
    const error = h("p", { id: "token-error", class: "error", role: "alert" }, message ?? "");
    const form = h(
      "form", { class: "stack" },
      h("label", { for: "token" }, "Your token"), this.input,
      h("p", { id: "token-help", class: "muted" },
        "Whoever opened the room has one for you, or a link with it inside; either will do. It stays in this tab."),
      error,
      h("button", { class: "primary" }, "Come in"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const { token, room } = parse(this.input.value.trim());
      if (token) enter(token, room);
      else error.textContent = "There is no token in that.";
    });
    this.element = h("section", { class: "card narrow" }, h("h1", {}, "Come in"), form);
  }

  focus() {
    this.input.focus();
  }
}

/** A token, or a link such as https://house/?room=nim#TOKEN. */
function parse(typed) {
  if (!/^https?:\/\//.test(typed)) return { token: typed.replace(/^#/, "") };
  try {
    const url = new URL(typed);
    return { token: decodeURIComponent(url.hash.slice(1)), room: url.searchParams.get("room") };
  } catch {
    return { token: "" };
  }
}
