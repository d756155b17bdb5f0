// What a finished game shows: who won, the scores, and how to go on.

import { escapeInvisible, h, memberName, nameInWords, scoreShown, seatName, setText } from "./dom.js";

const SHOWN = 4;

export class Ending {
  /** `rematch()`: start a new game. */
  constructor(rematch) {
    this.title = h("strong", { class: "winner" });
    this.scores = h("span", { class: "final-scores" });
    this.rematch = h("button", { type: "button", class: "primary", onclick: () => rematch() }, "Rematch");
    this.note = h("span", { class: "muted" });
    this.element = h("div", { class: "ending", role: "group", "aria-label": "The end", hidden: true }, this.title, this.scores, this.rematch, this.note);
  }

  /** `status`: the reply of objective_status. `mayRematch`: we may start one. `isAutomatic`: the next begins by itself. */
  draw(over, status, mayRematch, isAutomatic) {
    this.element.hidden = !over;
    if (!over) return;
    const standings = [...(status?.standings ?? [])].sort((a, b) => b.score - a.score);
    const players = new Map((status?.members ?? []).filter((m) => m.seat).map((m) => [m.seat, m.handle]));
    setText(this.title, words(standings, players)); // a member may have another name since
    const drawn = JSON.stringify([standings, [...players], mayRematch, isAutomatic]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.scores.replaceChildren(...standings.slice(0, SHOWN).map((s) => h("span", {},
      players.has(s.seat) ? memberName(players.get(s.seat)) : seatName(s), ` ${scoreShown(s.score)}`)));
    this.rematch.hidden = !mayRematch;
    this.note.hidden = mayRematch || isAutomatic;
    setText(this.note, "A host can start a rematch.");
  }
}

/** Those with the highest score have won. Where only one of several players is left in the standings, it has. */
function words(standings, players) {
  const best = standings.filter((s) => s.score === standings[0].score);
  if (best.length === standings.length && standings.length > 1) return "A draw.";
  if (!best.length || (standings.length === 1 && players.size < 2)) return "The game is over.";
  const names = best.map((s) => (players.has(s.seat) ? nameInWords(players.get(s.seat)) : escapeInvisible(s.name)));
  return names.length === 1 ? `${names[0]} won.` : `${names.slice(0, -1).join(", ")} and ${names.at(-1)} won.`;
}
