// The parts of a room that only show: who I am, who is here, how it stands, the world itself.

import { card, h, named, say } from "./dom.js";

const LONG_LINE = 90;

// -- you --------------------------------------------------------------------------------------
export class You {
  constructor() {
    this.element = h("div", { class: "you", "aria-label": "You", role: "group" });
  }

  draw(me) {
    const drawn = JSON.stringify(me);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const seat = me.seat ? `seat ${me.seat}` : me.claim ? `claims ${me.claim}` : "no seat";
    this.element.replaceChildren(
      h("p", {}, "You are ", named(me.handle), ` · ${me.role} · ${seat}`, me.team && ` · team ${me.team}`,
        watchOnly(me) && h("span", { class: "badge" }, "watch-only")),
      h("details", {},
        h("summary", {}, "What you may see and do"),
        h("dl", {},
          h("dt", {}, "see"), h("dd", {}, words(me.grant.perceive)),
          h("dt", {}, "do"), h("dd", {}, watchOnly(me) ? `nothing in the world (watch-only)${also(me)}` : words(me.grant.act)),
          ...(me.grant.through ? [h("dt", {}, "through"), h("dd", {}, `the seat ${me.grant.through}`)] : []),
          ...(me.grant.expiresAt ? [h("dt", {}, "until"), h("dd", {}, new Date(me.grant.expiresAt * 1000).toLocaleString())] : []),
        )),
    );
  }
}

export function watchOnly(me) {
  return !me.grant.act.includes("act") && !me.grant.act.includes("act_global");
}

function also(me) {
  return me.grant.act.length ? `; ${words(me.grant.act)}` : "";
}

function words(names) {
  return names.length ? names.map((name) => name.replaceAll("_", " ")).join(", ") : "nothing";
}

// -- who is here ------------------------------------------------------------------------------
export class Roster {
  constructor() {
    this.body = h("tbody");
    this.note = h("p", { class: "muted", hidden: true });
    this.table = h("table", {},
      h("thead", { class: "unseen" }, h("tr", {}, ...["Member", "Role", "State"].map((t) => h("th", { scope: "col" }, t)))),
      this.body);
    this.element = card("People and agents", "roster", this.note, this.table);
  }

  draw(members, count, me, movers) {
    const drawn = JSON.stringify([members, count, me, movers]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.note.hidden = members.length > 0;
    this.table.hidden = !members.length;
    say(this.note, `${count} members; your grant does not show who they are.`);
    this.body.replaceChildren(...members.map((m) => rosterLine(m, me, movers)));
  }
}

function rosterLine(m, me, movers) {
  const bot = m.played_by;
  const state = bot ? `played by ${bot}` : m.here ? "here" : "away";
  return h("tr", { "data-here": String(Boolean(m.here || bot)) },
    h("th", { scope: "row" }, named(m.handle), m.handle === me && " (you)",
      h("span", { class: "muted" }, [m.seat && `seat ${m.seat}`, m.team && `team ${m.team}`].filter(Boolean).join(" · "))),
    h("td", {}, m.role, m.role !== m.kind && h("span", { class: "muted" }, m.kind === "human" ? "person" : "agent")),
    h("td", {}, h("span", { class: "presence", "data-state": bot ? "bot" : state }, state),
      movers.includes(m.handle) && h("span", { class: "badge soft" }, "to move"),
      m.backend && m.backend !== bot && h("span", { class: "muted" }, m.backend)));
}

// -- how it stands ----------------------------------------------------------------------------
export class Standings {
  constructor() {
    this.list = h("ol", { class: "standings" });
    this.goals = h("dl", { class: "objectives" });
    this.element = card("Standings", "score", this.list, this.goals);
    this.element.hidden = true;
  }

  draw({ standings, members }) {
    const drawn = JSON.stringify([standings, members]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const holders = new Map(members.filter((a) => a.seat).map((a) => [a.seat, a.handle]));
    this.list.replaceChildren(...standings.map((s) => {
      const holder = holders.get(s.seat);
      return h("li", { "data-out": String(s.alive === false) },
        h("span", {}, holder ? named(holder) : s.name, holder && h("span", { class: "muted" }, ` ${s.name}`),
          s.alive === false && h("span", { class: "badge soft" }, "out")),
        h("strong", {}, String(s.score)));
    }));
    const aims = members.filter((a) => a.objectives.length);
    this.goals.replaceChildren(...aims.flatMap((a) => [
      h("dt", {}, named(a.handle)),
      ...a.objectives.map((o) => h("dd", {}, String(o.label ?? o.description ?? o.id ?? JSON.stringify(o)))),
    ]));
    this.element.hidden = !standings.length && !aims.length;
  }
}

// -- the world --------------------------------------------------------------------------------
const LARGE = 640; // points across

export class WorldView {
  constructor() {
    this.picture = h("img", { class: "picture", hidden: true });
    // A large picture is the thing to look at; a small one stands beside the text.
    this.picture.addEventListener("load", () => this.element.classList.toggle("large", this.picture.naturalWidth >= LARGE));
    this.text = h("pre", { class: "world-text", tabindex: "0", role: "region", "aria-label": "The world, as you see it" });
    this.element = h("div", { class: "world-view" }, this.picture, this.text);
  }

  draw(text) {
    if (text === this.drawn) return;
    this.drawn = text;
    this.text.replaceChildren(...text.split("\n").map((l) =>
      h("span", { class: isProse(l) ? "line prose" : "line" }, `${l}\n`)));
  }

  drawPicture(picture) {
    this.picture.hidden = picture === null;
    if (picture === null) return;
    this.picture.src = `data:image/${picture.format};base64,${picture.base64}`;
    this.picture.alt = "A picture of the world as you see it; the text beside it says the same.";
  }
}

/** Sentences wrap; maps and tables keep their columns and scroll sideways. */
function isProse(line) {
  const columns = /\S {2,}\S/.test(line);
  const words = line.match(/[a-z]{2,}/gi)?.length ?? 0;
  return line.length > LONG_LINE || (!columns && words >= 3);
}
