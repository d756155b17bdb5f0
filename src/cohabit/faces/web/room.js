// One room: asks for what it shows, takes the pushes, and picks up at its cursor after a loss.

import { Board } from "./board.js";
import { gently, h, say } from "./dom.js";
import { Moves, Talk, actionLabel } from "./doing.js";
import { Feed } from "./feed.js";
import { BEAT_MS } from "./link.js";
import { Roster, Standings, WorldView, You, watchOnly } from "./panels.js";

const FIRST_EVENTS = 200;
const SEES = ["watch", "read_own", "read_all"];
const GONE = ["UNKNOWN_ROOM"];
const WORKSPACE = "workspace"; // the world whose rooms show a board

export class RoomScreen {
  /** `complain(text)` shows a problem (null: none any more); `gone(text)`: this room is not there for us. */
  constructor(link, room, { complain, gone }) {
    this.link = link;
    this.room = room;
    this.complain = complain;
    this.gone = gone;
    this.cursor = null; // of the last event shown; null: none asked for yet
    this.listening = false;
    this.me = this.session = this.view = null;
    this.draws = true; // until the world says that it draws no pictures

    this.you = new You();
    this.world = new WorldView();
    this.board = new Board((command, args) => this.link.call(command, args, this.room));
    this.moves = new Moves((choice) => this.act(choice));
    this.roster = new Roster();
    this.standings = new Standings();
    this.feed = new Feed();
    this.talk = new Talk((to, content) => this.link.surely("send_message", { to, content }, this.room));
    this.board.element.hidden = true;
    this.layout();

    this.refresh = gently(() => this.fetchAround(), 700);
    this.look = gently(() => this.fetchPicture(), 700);
    this.beat = setInterval(() => this.check(), BEAT_MS);
  }

  layout() {
    this.title = h("h1", { tabindex: "-1" }, this.room);
    this.subtitle = h("p", { class: "muted" });
    this.turn = h("p", { class: "turn", role: "status", tabindex: "-1" });
    this.rules = h("p");
    this.element = h("div", { class: "room-grid" },
      h("div", { class: "head" }, h("div", {}, this.title, this.subtitle), this.you.element),
      h("section", { class: "card world", "aria-label": "The world" },
        this.turn, this.world.element, this.board.element, this.moves.element,
        h("details", { class: "rules" }, h("summary", {}, "What this world is about"), this.rules)),
      h("div", { class: "side" }, this.feed.element, this.talk.element),
      h("div", { class: "people" }, this.roster.element, this.standings.element));
  }

  focus() {
    this.title.focus({ preventScroll: true });
  }

  stop() {
    clearInterval(this.beat);
    this.stopped = true;
    this.link.call("unsubscribe", {}, this.room).catch(() => {}); // it may be gone, and that is as well
  }

  // -- coming, and coming back -------------------------------------------------------------------
  /** Called when the connection is there, and each time it is there again. */
  async start() {
    this.listening = false;
    await this.guarded(async () => {
      await this.listen();
      await this.whoAmI();
      await this.refresh();
      if (!this.worldTitle) await this.describe();
      this.feed.announce();
    });
  }

  /** Events from where we stopped: none lost, none twice. */
  async listen() {
    try {
      if (this.cursor === null) await this.firstEvents();
      await this.link.call("subscribe", { cursor: this.cursor }, this.room);
      this.listening = true;
    } catch (error) {
      if (error.code === "BAD_ARGS" || error.code === "RECORD_CORRUPT") {
        // Our cursor is of another record, or what follows it was pruned: begin again with the newest.
        await this.firstEvents();
        await this.link.call("subscribe", { cursor: this.cursor }, this.room);
        this.listening = true;
      } else if (error.code !== "PERMISSION_DENIED") throw error;
    }
  }

  async firstEvents() {
    const { items, cursor } = await this.link.call("events", { last: FIRST_EVENTS }, this.room);
    this.feed.clear();
    this.feed.add(items, this.people());
    this.cursor = cursor;
  }

  async check() {
    await this.guarded(async () => {
      await this.whoAmI();
      if (!this.listening) await this.listen(); // our grant may have grown
    });
  }

  /** Run `work`; say what the house refuses, leave a lost connection to the link. */
  async guarded(work) {
    try {
      await work();
      if (!this.stopped) this.complain(null);
    } catch (error) {
      if (this.stopped || error.code === "LOST") return;
      if (GONE.includes(error.code)) this.gone(error.message);
      else this.complain(error.message);
    }
  }

  // -- what is pushed ----------------------------------------------------------------------------
  push(frame) {
    if (frame.room !== this.room) return;
    if (frame.push === "events") {
      this.feed.add(frame.items, this.people());
      this.cursor = frame.cursor;
      if (frame.items.some((item) => item.kind === "roster")) this.guarded(() => this.whoAmI());
      this.refresh();
    } else if (frame.push === "view") {
      this.see(frame.view);
      this.refresh();
    } else if (frame.push === "grant") {
      this.guarded(() => this.whoAmI());
    }
  }

  see(view) {
    this.view = view;
    this.world.draw(view.text);
    if (!this.board.element.hidden) this.board.see(view.observation.status);
    this.drawTurn();
    if (this.draws) this.look();
  }

  // -- what is asked for -------------------------------------------------------------------------
  async whoAmI() {
    const before = this.me && JSON.stringify([this.me.grant, this.me.seat]);
    const me = (this.me = await this.link.call("whoami", {}, this.room));
    this.you.draw(me);
    if (!me.grant.perceive.some((sight) => SEES.includes(sight))) {
      this.view = null;
      this.world.draw("You don't have permission to view this world.");
      this.world.drawPicture(null);
    } else if (before !== null && before !== JSON.stringify([me.grant, me.seat])) {
      this.see(await this.link.call("view", {}, this.room)); // other eyes, another view
    }
    this.drawTurn();
    this.drawPeople();
  }

  async fetchAround() {
    await this.guarded(async () => {
      this.session = await this.link.call("session_info", {}, this.room);
      this.showBoard();
      this.drawHead();
      this.drawTurn();
      this.drawPeople();
      if (this.me?.grant.perceive.some((sight) => SEES.includes(sight))) {
        this.standings.draw(await this.link.call("objective_status", {}, this.room));
      }
    });
  }

  /** In a workspace the board is the thing to look at, for whoever may look. */
  showBoard() {
    const shown = this.session.world === WORKSPACE && Boolean(this.view);
    this.board.element.hidden = !shown;
    this.world.element.hidden = shown;
    if (shown) this.board.see(this.view.observation.status);
  }

  async fetchPicture() {
    if (!this.me?.grant.perceive.includes("see_screen") || !this.view) return;
    try {
      this.world.drawPicture(await this.link.call("picture", {}, this.room));
    } catch (error) {
      if (error.code === "LOST") return;
      this.world.drawPicture(null);
      this.draws = error.code !== "GAME_REJECTED";
    }
  }

  async describe() {
    const about = await this.link.call("rules", {}, this.room);
    this.worldTitle = about.title;
    say(this.title, about.title);
    say(this.rules, about.description);
    this.drawHead();
    if (this.draws) this.look();
  }

  // -- what is done ------------------------------------------------------------------------------
  async act(choice) {
    if (choice.sit) {
      await this.link.surely("sit", { seat: choice.sit }, this.room);
      return `You sit at ${choice.sit}.`;
    }
    if (choice.endTurn) {
      const { next } = await this.link.surely("turn_advance", {}, this.room);
      return `Your turn is over; it is ${next}'s.`;
    }
    const result = await this.link.surely("act", { action: choice.action, params: choice.params }, this.room);
    return result.message;
  }

  choices() {
    const { me, view, session } = this;
    if (!me || watchOnly(me)) return [];
    if (this.myTurn()) {
      const moves = (view.observation.choices ?? []).map((choice) => ({ ...choice, label: actionLabel(choice) }));
      return session?.current_turn === me.handle ? [...moves, { endTurn: true, label: "End my turn" }] : moves;
    }
    if (me.seat || me.claim || !session?.members.length) return [];
    const taken = session.members.map((m) => m.seat);
    return session.seats.filter((seat) => !taken.includes(seat)).map((seat) => ({ sit: seat, label: `Sit at ${seat}` }));
  }

  myTurn() {
    return Boolean(this.me && this.view && !this.view.over && this.view.to_move.includes(this.me.handle));
  }

  // -- drawing what hangs together ----------------------------------------------------------------
  people() {
    return ["everybody", ...(this.session?.members ?? []).map((m) => m.handle)];
  }

  drawHead() {
    const { session } = this;
    if (!session) return;
    const words = session.world === WORKSPACE ? [`room ${session.room}`] : [
      `room ${session.room}`, `world ${session.world}`, `scenario ${session.scenario}`, `game ${session.game ?? 1}`,
      session.partial_intel && "fog", session.speed && `speed ${session.speed}`,
    ];
    say(this.subtitle, words.filter(Boolean).join(" · "));
  }

  drawTurn() {
    const { view, session } = this;
    const mine = this.myTurn();
    const choices = this.choices();
    this.moves.draw(choices[0]?.sit ? "Free seats" : "Your move", choices);
    this.turn.dataset.mine = String(mine);
    let words = "";
    if (view?.over) words = "It is over.";
    else if (mine) words = view.to_move.length > 1 ? "You can act." : "It is your turn.";
    else if (view?.to_move.length) words = `To move: ${list(view.to_move)}.`;
    if (view?.paused) words = `Paused. ${words}`;
    if (words && !view.over && session?.turn_ends_utc) {
      words += ` Until ${new Date(session.turn_ends_utc).toLocaleTimeString()}.`;
    }
    say(this.turn, words);
    this.turn.hidden = !words;
    document.title = [mine && view.to_move.length === 1 && "Your turn", this.worldTitle ?? this.room, "Cohabit"].filter(Boolean).join(" · ");
  }

  drawPeople() {
    if (!this.me || !this.session) return;
    const movers = this.view && !this.view.over && this.view.to_move.length < 2 ? this.view.to_move : [];
    this.roster.draw(this.session.members, this.session.member_count, this.me.handle, movers);
    this.talk.draw(this.me, this.session.members);
  }
}

function list(names) {
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
