// Choose one of the many games of a library: a list, and a field that shortens it.

import { escapeInvisible, h, setText } from "./dom.js";

const SHOWN = 8; // lines of the list

export class GamePicker {
  /** `onchange()`: another game was chosen. */
  constructor(connection, onchange) {
    this.connection = connection;
    this.find = h("input", { id: "find-game", type: "search", autocomplete: "off", spellcheck: "false", placeholder: "title or name", oninput: () => this.draw() });
    this.list = h("select", { id: "library-game", size: SHOWN, "aria-label": "Game", onchange: () => onchange() });
    this.count = h("p", { class: "muted", role: "status" });
    this.element = h("div", { class: "stack", hidden: true }, h("label", { for: "find-game" }, "Find a game"), this.find, this.list, this.count);
    this.libraries = new Map(); // name → its games, once they were asked for
    this.games = [];
  }

  /** The game that is chosen, a line of `worlds`. */
  get chosen() {
    return this.element.hidden ? undefined : this.games.find(({ name }) => name === this.list.value);
  }

  /** Show the games of a library; null: none. */
  async show(library) {
    this.element.hidden = library === null;
    this.library = library;
    this.games = [];
    if (library === null) return;
    this.draw();
    if (!this.libraries.has(library)) {
      setText(this.count, "Loading …");
      const { worlds } = await this.connection.call("worlds", { library });
      this.libraries.set(library, worlds.sort((one, other) => one.title.localeCompare(other.title)));
    }
    if (library !== this.library) return; // another one was chosen meanwhile
    this.games = this.libraries.get(library);
    this.draw();
  }

  draw() {
    const words = this.find.value.toLowerCase().split(/\s+/);
    const found = this.games.filter(({ name, title }) => words.every((word) => `${name} ${title}`.toLowerCase().includes(word)));
    const { value } = this.list;
    this.list.replaceChildren(...found.map(({ name, title, players: [fewest, most] }) =>
      h("option", { value: name }, `${escapeInvisible(title)} (${fewest === most ? most : `${fewest}–${most}`})`)));
    if (found.some(({ name }) => name === value)) this.list.value = value;
    setText(this.count, `${found.length} of ${this.games.length} games, with the number of players`);
  }
}
