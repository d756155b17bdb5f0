// The options of a journey through the Nexus: how hard the game is, when the visit ends by itself, and where to go next.

import { escapeInvisible, h } from "./dom.js";

const DIFFICULTIES = ["easy", "normal", "hard", "adaptive"];
const USUAL = "normal";
const NEXUS = "nexus";

export class Travel {
  /** `onDestination(game)` is called when another destination is chosen; null: the Nexus. */
  constructor(onDestination) {
    this.difficulty = h("select", { id: "travel-difficulty" },
      DIFFICULTIES.map((name) => h("option", { value: name, selected: name === USUAL }, name)));
    this.ends = h("input", { id: "travel-ends", type: "text", maxlength: "600", autocomplete: "off", spellcheck: "false", "aria-describedby": "travel-ends-about" });
    this.destination = h("select", { id: "travel-destination", onchange: () => onDestination(this.nextGame()) });
    this.onDestination = onDestination;
    this.entering = h("div", { class: "fields travel", hidden: true },
      h("p", { class: "field" }, h("label", { for: "travel-difficulty" }, "Difficulty of the game"), this.difficulty),
      h("div", { class: "field" }, h("label", { for: "travel-ends" }, "End the visit by itself when"), this.ends,
        h("p", { class: "muted", id: "travel-ends-about" }, "Such as: health < 10%, steps >= 200, playtime >= 10 min, died")));
    this.leaving = h("p", { class: "field travel", hidden: true }, h("label", { for: "travel-destination" }, "When you leave, go to"), this.destination);
  }

  /** `status`: of the view of the Nexus. `canEnter`: games are offered. `canLeave`: we are in one. */
  draw(status, canEnter, canLeave) {
    this.entering.hidden = !canEnter;
    this.leaving.hidden = !canLeave;
    const games = canLeave ? (status.games ?? []).filter(({ id, status: state }) => state === "available" && id !== status.in_game) : [];
    const drawn = JSON.stringify(games);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const chosen = this.destination.value;
    this.destination.replaceChildren(h("option", { value: NEXUS }, "the Nexus"), ...games.map(({ id }) => h("option", { value: id }, escapeInvisible(id))));
    this.destination.value = games.some(({ id }) => id === chosen) ? chosen : NEXUS;
    this.onDestination(this.nextGame());
  }

  nextGame() {
    return this.destination.value && this.destination.value !== NEXUS ? this.destination.value : null;
  }

  /** The arguments of entering a game that were chosen here. */
  entryArgs() {
    const conditions = this.ends.value.split(",").map((text) => text.trim()).filter(Boolean);
    return {
      ...(this.difficulty.value !== USUAL ? { difficulty: this.difficulty.value } : {}),
      ...(conditions.length ? { exit_conditions: conditions } : {}),
    };
  }

  /** The arguments of leaving a game. */
  exitArgs() {
    const game = this.nextGame();
    return game ? { destination: game } : {};
  }
}
