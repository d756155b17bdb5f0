// The parts of a room that only display: you, the members, the standings, the world.

import { confirmButton } from "./confirm.js";
import { dateTime, escapeInvisible, h, memberName, scoreShown, seatName, setText } from "./dom.js";

// -- you --------------------------------------------------------------------------------------
export class AboutYou {
  /** `leave()`: leave the room. `openData()`: show what the house keeps of us. */
  constructor(leave, openData) {
    this.summary = h("p", { class: "you", role: "group", "aria-label": "You" });
    this.permissions = h("dl");
    this.lastHost = h("strong", { hidden: true }, "You are the only host here. Nobody can manage this room or read reports when you have left. ");
    this.leave = confirmButton("Leave this room", [this.lastHost, "Leave? Your seat is freed, and a token for this room alone ends."], "Leave", leave);
    this.leave.hidden = true;
    this.result = h("p", { class: "result error", role: "status" });
    this.element = h("div", { class: "about-you" }, this.permissions,
      h("p", { class: "buttons" }, h("button", { type: "button", onclick: () => openData() }, "Your data"), this.leave), this.result);
  }

  /** `mayLeave`: the house offers it. `isLastHost`: nobody else manages the room. */
  offerLeave(mayLeave, isLastHost) {
    this.leave.hidden = !mayLeave;
    this.lastHost.hidden = !isLastHost;
  }

  /** `me`: the reply of whoami. `reward`: the total reward; null where the world counts none. `isPlayed`: there are seats. */
  draw(me, role, reward, isPlayed = true) {
    const drawn = JSON.stringify([me, role, reward, isPlayed]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const facts = [
      role,
      me.seat ? `seat ${me.seat}` : me.claim ? `claims ${me.claim}` : isPlayed && "no seat",
      me.team && `team ${me.team}`,
      reward !== null && `total reward ${Number(reward.toFixed(3))}`,
    ];
    this.summary.replaceChildren(
      "You are ", memberName(me.handle), ` · ${facts.filter(Boolean).join(" · ")}`,
      ...(isPlayed && isWatchOnly(me) && !me.grant.act.includes("manage_members") ? [h("span", { class: "badge" }, "watch-only")] : []));
    this.permissions.replaceChildren(...permissions(me).flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));
  }
}

export function isWatchOnly(me) {
  return !me.grant.act.includes("act") && !me.grant.act.includes("act_global");
}

/** The seat of another player that we look through, or null. */
export function watchedSeat({ grant, seat }) {
  return grant.through && grant.through !== seat ? grant.through : null;
}

const CAPABILITIES = {
  watch: "what is public", read_own: "what your seat sees", read_all: "the whole world", read_roster: "the members",
  read_chat: "messages to everybody and to your team", receive_directed: "messages to you",
  see_screen: "pictures of the world", hear_audio: "voices", read_media: "images in messages", read_files: "files in messages",
  act: "act for your seat", act_global: "act anywhere", advance_time: "pause and set the speed",
  control_world: "reset, rematch, archive and delete", send_message: "write to members and to your team",
  send_broadcast: "write to everybody", speak: "speak", publish: "publish views of an app", manage_members: "manage members",
};

/** `through`: the seat of another player that we look through, or null. */
function capabilityList(names, through = null) {
  const words = names.map((name) => (through && name === "read_own" ? `what seat ${escapeInvisible(through)} sees` : CAPABILITIES[name] ?? name));
  return words.length ? words.join(", ") : "nothing";
}

function permissions(me) {
  const { perceive, act, layers = [] } = me.grant;
  const through = watchedSeat(me);
  return [
    ["You can see", capabilityList(perceive, through)],
    ["You can do", capabilityList(act)],
    ...(through ? [["Your view", `through seat ${escapeInvisible(through)}; its player was told`]] : []),
    ...layers.filter((layer) => !isPartOfLimit(layer, layers)).map((layer) => layerText(layer, through)),
  ];
}

/** A grant that replaces the role is a limit and an addition of the same capabilities. One of them is enough to show. */
function isPartOfLimit({ kind, may, expiresAt }, layers) {
  return kind === "addition" && !expiresAt && layers.some((l) => l.kind === "limit" && String(l.may) === String(may));
}

/** How a host, or the player of the seat that we look through, has changed what the role gives. */
function layerText({ kind, may, expiresAt, thisGame }, through) {
  const expiry = expiresAt && dateTime(expiresAt * 1000);
  const ends = expiry ? `; until ${expiry}` : thisGame ? "; until the next game begins" : "";
  if (kind === "addition") return [through && String(may) === "read_own" ? "Allowed by its player" : "Added by a host", capabilityList(may, through) + ends];
  if (!may.length) return ["Limited", "your permissions were revoked or have expired"];
  return ["Limited", expiry ? `by a host, until ${expiry}; after that you have no permissions here` : "by a host"];
}

// -- members ----------------------------------------------------------------------------------
export class Roster {
  constructor() {
    this.body = h("tbody");
    this.denied = h("p", { class: "muted", hidden: true });
    this.table = h("table", {},
      h("thead", { class: "visually-hidden" }, h("tr", {}, ...["Member", "Role", "Status"].map((t) => h("th", { scope: "col" }, t)))),
      this.body);
    this.element = h("div", { class: "roster" }, this.denied, this.table);
    this.showsBots = false;
  }

  /** `members` is empty where we may not see them. `movers`: the handles of those whose turn it is. */
  draw(members, count, me, movers) {
    const drawn = JSON.stringify([members, count, me, movers]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.denied.hidden = members.length > 0;
    this.table.hidden = !members.length;
    setText(this.denied, `${count} ${count === 1 ? "member" : "members"}. You don't have permission to see the list.`);
    const bots = members.filter((m) => m.played_by && m.kind === "agent" && m.handle !== me);
    const some = bots.length > 1 ? members.filter((m) => !bots.includes(m)) : members;
    this.body.replaceChildren(...some.map((m) => rosterLine(m, me, movers)), ...(bots.length > 1 ? this.botLines(bots, me, movers) : []));
  }

  /** One row for all built-in players, and their own rows below it, which it shows and hides. */
  botLines(bots, me, movers) {
    const rows = bots.map((m) => rosterLine(m, me, movers));
    const button = h("button", { type: "button", class: "quiet", onclick: () => show(!this.showsBots) }, `${bots.length} built-in players`);
    const moves = bots.some((m) => movers.includes(m.handle));
    const show = (shown) => {
      this.showsBots = shown;
      button.setAttribute("aria-expanded", String(shown));
      for (const row of rows) row.hidden = !shown;
    };
    show(this.showsBots);
    return [h("tr", { class: "bots" }, h("th", { scope: "row", colspan: "2" }, button), h("td", {}, moves && h("span", { class: "badge soft" }, "to move"))), ...rows];
  }
}

function rosterLine(m, me, movers) {
  const status = m.played_by ? `played by ${m.played_by}${m.here ? ", page open" : ""}` : m.here ? "online" : "away";
  const details = [m.name && m.name !== m.handle && escapeInvisible(m.handle), m.seat && `seat ${m.seat}`, m.team && `team ${m.team}`];
  return h("tr", { "data-active": String(Boolean(m.here || m.played_by)) },
    h("th", { scope: "row" }, memberName(m.handle), m.handle === me && " (you)",
      h("span", { class: "muted" }, details.filter(Boolean).join(" · "))),
    h("td", {}, m.role, m.role !== m.kind && h("span", { class: "muted" }, m.kind === "human" ? "person" : "agent"),
      m.kind === "agent" && !m.played_by && h("span", { class: "muted" }, agentMay(m.acts ?? []))),
    h("td", {}, h("span", { class: "status", "data-status": m.played_by ? "bot" : status }, status),
      movers.includes(m.handle) && h("span", { class: "badge soft" }, "to move"),
      m.sees_all && h("span", { class: "badge soft" }, "sees everything"),
      m.backend && m.backend !== m.played_by && h("span", { class: "muted" }, m.backend)));
}

const DOINGS = { act: "play", act_global: "play", send_broadcast: "write", send_message: "write", speak: "speak", publish: "publish", advance_time: "set the pace", control_world: "reset", manage_members: "manage" };

/** What an agent may do, in a few words. `acts`: its capabilities to act, without those to perceive. */
function agentMay(acts) {
  const words = [...new Set(acts.map((capability) => DOINGS[capability] ?? capability))];
  return words.length ? `may ${words.join(", ")}` : "only watches";
}

// -- standings --------------------------------------------------------------------------------
export class Standings {
  constructor() {
    this.list = h("ol", { class: "scores" });
    this.objectives = h("dl", { class: "objectives" });
    this.element = h("div", { class: "standings" }, this.list, this.objectives);
    this.hasAny = false;
  }

  /** The reply of objective_status; null where we may not see it. */
  draw(status) {
    const drawn = JSON.stringify(status);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const { standings, members } = status ?? { standings: [], members: [] };
    const players = new Map(members.filter((m) => m.seat).map((m) => [m.seat, m.handle]));
    this.list.replaceChildren(...standings.map((s) => {
      const player = players.get(s.seat);
      return h("li", { "data-out": String(s.alive === false) },
        h("span", {}, player ? memberName(player) : seatName(s), player && h("span", { class: "muted" }, ` ${s.name}`),
          s.alive === false && h("span", { class: "badge soft" }, "out")),
        h("strong", {}, scoreShown(s.score)));
    }));
    const withObjectives = members.filter((m) => m.objectives.length);
    this.objectives.replaceChildren(...withObjectives.flatMap((m) => [
      h("dt", {}, memberName(m.handle)),
      ...m.objectives.map((o) => h("dd", {}, String(o.label ?? o.description ?? o.id ?? JSON.stringify(o)))),
    ]));
    this.hasAny = standings.length > 0 || withObjectives.length > 0;
  }
}

// -- notes --------------------------------------------------------------------------------------
/** Features whose lines the page shows in another place. */
const SHOWN_ELSEWHERE = ["messages", "apps", "consent", "objectives", "reports"];

export class Notes {
  constructor() {
    this.element = h("div", { class: "notes", role: "status", "aria-label": "Notes", hidden: true });
  }

  /** `notes`: the lines that features add to our view, by the name of the feature. */
  draw(notes) {
    const lines = Object.entries(notes).filter(([feature]) => !SHOWN_ELSEWHERE.includes(feature)).flatMap(([, text]) => text.split("\n"));
    const drawn = JSON.stringify(lines);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.element.hidden = !lines.length;
    this.element.replaceChildren(...lines.map((line) => h("p", {}, line)));
  }
}

// -- the world --------------------------------------------------------------------------------
const LARGE_PICTURE = 640; // pixels across
const LONG_LINE = 90; // characters
const FOR_THE_PLAYER = /^(It is your turn\.|(?:Legal actions|Examples of actions): .*|Your total reward: .*)\n?/gm;

export class WorldView {
  constructor() {
    this.picture = h("img", { class: "picture", hidden: true });
    // A large picture goes above the text, a small one beside it.
    this.picture.addEventListener("load", () => this.element.classList.toggle("large", this.picture.naturalWidth >= LARGE_PICTURE));
    this.text = h("pre", { class: "world-text", tabindex: "0", role: "region", "aria-label": "The world as you see it" });
    this.element = h("div", { class: "world-view" }, this.picture, this.text);
  }

  /** `view`: its text. `isPlayer`: we play the seat that it is for; else its last lines are not for us. */
  draw(view, isPlayer = true) {
    const text = isPlayer ? view : view.replace(FOR_THE_PLAYER, "").trimEnd();
    if (text === this.drawn) return;
    this.drawn = text;
    this.text.replaceChildren(...text.split("\n").map((line) =>
      h("span", { class: isProse(line) ? "line prose" : "line" }, `${line}\n`)));
  }

  /** Resolves when the picture has its size. */
  async drawPicture(picture) {
    this.picture.hidden = picture === null;
    if (picture === null) return;
    this.picture.src = `data:image/${picture.format};base64,${picture.base64}`;
    this.picture.alt = "A picture of the world as you see it. The text next to it has the same information.";
    await this.picture.decode().catch(() => {}); // replaced by a newer one
  }
}

/** Sentences are wrapped. Maps and tables keep their columns and scroll sideways. */
function isProse(line) {
  const hasColumns = /\S {2,}\S/.test(line);
  const words = line.match(/[a-z]{2,}/gi)?.length ?? 0;
  return line.length > LONG_LINE || (!hasColumns && words >= 3);
}
