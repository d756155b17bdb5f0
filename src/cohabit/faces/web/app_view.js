// What an app has published for us, in a room without a game: the same that agents there perceive as the view.

import { h, memberName } from "./dom.js";

export class AppView {
  constructor() {
    this.title = h("h2", {});
    this.text = h("pre", { class: "app-view", tabindex: "0" });
    this.element = h("div", { class: "app", hidden: true }, this.title, this.text);
  }

  /** `app`: the handle of the app, or null if none has published anything. */
  draw(app, view) {
    this.element.hidden = app === null;
    if (app === null) return;
    this.title.replaceChildren("Shown by ", memberName(app));
    this.text.textContent = typeof view === "string" ? view : JSON.stringify(view, null, 2);
  }
}
