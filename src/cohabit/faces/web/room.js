// One room: fetches what it shows, receives the pushes, and resumes from its cursor after a lost connection.

import { Agents } from "./agents.js";
import { AppView } from "./app_view.js";
import { Body } from "./body.js";
import { POLL_MS } from "./connection.js";
import { Choices, MessageForm } from "./controls.js";
import { Countdown } from "./countdown.js";
import { escapeInvisible, h, setColours, setText, throttled } from "./dom.js";
import { Drawers } from "./drawers.js";
import { Ending } from "./ending.js";
import { EventLog } from "./events.js";
import { ActionForms } from "./forms.js";
import { FrontEnd } from "./front_end.js";
import { Inspector } from "./inspector.js";
import { Keys } from "./keys.js";
import { layOut } from "./layout.js";
import { Manage } from "./manage.js";
import { markdown } from "./markdown.js";
import { choose, offered } from "./moves.js";
import { AboutYou, Notes, Roster, Standings, WorldView, isWatchOnly, watchedSeat } from "./panels.js";
import { numberOf, readersOf } from "./report.js";
import { Spectate } from "./spectate.js";
import { TimeControls } from "./time.js";
import { turnText } from "./turn_text.js";

const FIRST_EVENTS = 200;
const REFRESH_MS = 700;
/** A call of a removed member may be refused before its stream ends; both say the same. */
const REMOVED = "you were removed from this room";
const LEFT = "You have returned to the Nexus.";
const SEES_WORLD = ["watch", "read_own", "read_all"];
const NEXUS = "nexus"; // the world from where one travels to games
const WORKSPACE = "workspace"; // the world whose rooms show a board

export class RoomScreen {
  hasWayBack = true; // to the list of rooms

  /**
   * `showError(text)`: null clears it. `onUnavailable(text)`: there is no such room for us, or not any more. `openData()`:
   * show what the house keeps of us. `travel(room, token)`: show another room, under a token for it.
   */
  constructor(connection, room, { showError, onUnavailable, openData, travel, alone = false }) {
    this.connection = connection;
    this.room = room;
    this.showError = showError;
    this.onUnavailable = onUnavailable;
    this.travelTo = travel;
    this.alone = alone; // only the front end of the world, in the whole window
    this.cursor = null; // of the last event shown; null: none was fetched yet
    this.subscribed = false;
    this.me = this.session = this.view = null;
    this.hosts = []; // their handles
    this.hasPictures = true; // until the world refuses to draw one
    setColours([], [], []); // those of another room

    this.you = new AboutYou(() => this.leave(), openData);
    this.time = new TimeControls((command, args) => this.connection.callOnce(command, args, this.room), () => this.refresh());
    this.timeRights = null; // what we may do with the time; null: not fetched yet
    this.spectate = new Spectate((command, args) => this.call(command, args),
      (command, args) => this.connection.callOnce(command, args, this.room), () => this.live && this.showView(this.live));
    this.world = new WorldView();
    this.frontEnd = new FrontEnd(room, (name, args, changes) => this.callForDocument(name, args, changes), alone);
    this.frontEnd.onKey = (key) => this.keys.press(key);
    this.frontEnd.onControls = () => { this.drawTurn(); this.guarded(() => this.fetchBody()); };
    this.app = new AppView();
    this.board = null; // loaded where there is one
    this.boardPlace = h("div", { class: "board-place", hidden: true });
    this.choices = new Choices((choice) => choose(this, choice), () => this.turn.focus()); // stay near it
    this.keys = new Keys((key) => this.isMyTurn() && this.choices.run(key), (number) => this.choices.press(number));
    this.countdown = new Countdown();
    this.roster = new Roster();
    this.standings = new Standings();
    this.agents = new Agents((command) => this.connection.callOnce(command, {}, this.room), () => this.guarded(() => this.fetchMe()));
    this.forms = new ActionForms((command, params) => this.connection.callOnce(command, params, this.room), (result) => this.linkOf(result));
    this.body = new Body((command, args) => this.callBody(command, args), () => this.guarded(() => this.fetchMe()), (result) => this.linkOf(result));
    this.drawers = new Drawers();
    this.drawers.add({ id: "story", title: "Story", element: (this.story = h("div", { class: "story" })) });
    this.manage = new Manage(connection, room, this.drawers, () => (this.session ? this.refresh() : this.load()), () => this.drawOffers());
    this.ending = new Ending(() => this.manage.startRematch());
    this.events = new EventLog((item, reason) => this.report(item, reason), (author) => readersOf(author, this.hosts));
    this.inspector = new Inspector((args) => this.call("decisions", args), (decisions) => { this.events.explain(decisions); this.drawers.draw(); });
    this.notes = new Notes();
    this.message = new MessageForm((to, content) => this.connection.callOnce("send_message", { to, content }, this.room));
    layOut(this);

    this.refresh = throttled(() => this.fetchSession(), REFRESH_MS);
    this.refreshPicture = throttled(() => this.fetchPicture(), REFRESH_MS);
    this.polling = setInterval(() => this.load(), POLL_MS);
  }

  focus() {
    this.title.focus({ preventScroll: true });
  }

  stop() {
    clearInterval(this.polling);
    this.stopped = true;
    for (const part of [this.frontEnd, this.keys, this.countdown, this.drawers, this.spectate]) part.stop();
    this.call("unsubscribe").catch(() => {}); // the connection or the room may be gone already
  }

  call(command, args = {}) {
    return this.connection.call(command, args, this.room);
  }

  // -- starting and resuming ---------------------------------------------------------------------
  /** Called when the connection is ready, and again after each reconnect. */
  async start() {
    this.subscribed = false;
    await this.load();
    this.element.removeAttribute("aria-busy"); // shown as a whole: a click is lost if its button moves under the pointer
    this.events.announce();
  }

  /** Fetch what is not pushed, and whatever is still missing. */
  async load() {
    await this.guarded(async () => {
      if (!this.subscribed) await this.subscribe(); // refused at first, where the grant did not allow it
      await this.fetchMe();
      await (this.session ? this.refresh() : this.fetchSession());
      if (!this.worldTitle) await this.fetchDescription();
      await this.manage.prepare();
      this.drawTurn();
      this.manage.refresh(); // no push tells that an invite has expired
    });
  }

  /** Subscribe from the cursor, so that no event is lost or repeated. */
  async subscribe() {
    try {
      if (this.cursor === null) await this.fetchNewestEvents();
      await this.call("subscribe", { cursor: this.cursor });
      this.subscribed = true;
    } catch (error) {
      if (error.code === "BAD_ARGS" || error.code === "RECORD_CORRUPT") {
        // The cursor belongs to another record, or the entries after it were pruned: start over with the newest.
        await this.fetchNewestEvents();
        await this.call("subscribe", { cursor: this.cursor });
        this.subscribed = true;
      } else if (error.code !== "PERMISSION_DENIED") throw error;
    }
  }

  async fetchNewestEvents() {
    const { items, cursor } = await this.call("events", { last: FIRST_EVENTS });
    this.events.clear();
    this.events.add(items, this.recipients());
    this.cursor = cursor;
  }

  /** Run `work` and show what the house refuses. A lost connection is left to the Connection. */
  async guarded(work) {
    try {
      await work();
      if (!this.stopped) this.showError(null);
    } catch (error) {
      if (this.stopped || error.code === "LOST") return;
      if (error.code === "EGRESS_USED_UP") this.manage.onUsedUp(/set_egress_budget for (.+)\)/.exec(error.message)?.[1]); // hosts are told of it
      if (this.farewell && ["UNKNOWN_ROOM", "UNAUTHORIZED"].includes(error.code)) this.onUnavailable(this.farewell);
      else if (error.code === "UNKNOWN_ROOM") this.onUnavailable(this.me && /not a member/.test(error.message) ? REMOVED : error.message);
      else this.showError(error.message);
    }
  }

  // -- pushes ------------------------------------------------------------------------------------
  push(frame) {
    if (frame.room !== this.room) return;
    if (frame.push === "events") {
      this.events.add(frame.items, this.recipients());
      this.cursor = frame.cursor;
      if (frame.items.some((item) => item.kind === "roster")) this.onMembersChanged();
      if (frame.items.some((item) => item.do === "publish_view")) this.guarded(() => this.fetchApp());
      this.manage.onEvents(frame.items);
    } else if (frame.push === "view") {
      this.showView(frame.view);
    } else if (frame.push === "grant") {
      this.guarded(() => this.fetchMe());
    }
    this.refresh();
  }

  onMembersChanged() {
    this.guarded(() => this.fetchMe());
  }

  /** `live`: what we see now. Spectators may see everything instead, as it was before. */
  showView(live) {
    this.live = live;
    const view = this.spectate.view ?? live;
    if (this.spectate.view && view === this.view) return;
    this.view = view;
    this.frontEnd.update(view);
    this.drawWorld();
    this.drawYou();
    this.drawTurn();
    if (this.hasPictures) this.refreshPicture();
  }

  // -- fetching ----------------------------------------------------------------------------------
  async fetchMe() {
    const before = this.me && JSON.stringify([this.me.grant, this.me.seat]);
    const me = (this.me = await this.call("whoami"));
    this.manage.draw(me, this.session);
    if (!this.seesWorld()) {
      this.view = this.live = null;
      this.frontEnd.hide();
      this.plain.prepend(this.world.element); // it may be in a panel, beside the document
      this.world.draw("You don't have permission to view this world.");
      this.world.drawPicture(null);
      this.drawStandings(null);
      this.notes.draw({});
      this.drawWorld();
    } else if (before !== null && before !== JSON.stringify([me.grant, me.seat])) {
      this.showView(await this.call("view")); // another grant or seat shows another view
    }
    this.drawYou();
    this.drawTurn();
    this.drawPeople();
    if (!this.session) return;
    await this.fetchFrontEnd();
    await this.fetchAgents();
    await this.fetchBody();
    await this.fetchTimeRights();
  }

  async fetchSession() {
    await this.guarded(async () => {
      this.session = await this.call("session_info");
      this.element.classList.toggle("with-front-end", Boolean(this.session.front_end));
      this.drawWorld();
      this.drawHead();
      this.drawYou();
      this.drawTurn();
      this.drawPeople();
      if (this.seesWorld()) this.notes.draw((await this.call("view_notes")).notes);
      const status = this.seesWorld() ? await this.call("objective_status") : null;
      this.drawStandings(status);
      setColours(this.session.members, this.session.seats, status?.standings ?? []);
      await this.fetchFrontEnd();
      await this.fetchAgents();
      if (this.seesWorld()) await this.inspector.fetch(this.me);
      await this.fetchBody();
      await this.fetchApp();
      if (!this.timeRights) await this.fetchTimeRights();
    });
  }

  /** What we may do with the time of the world, where it has a clock. Whether a pause is possible depends on who is present. */
  async fetchTimeRights() {
    if (!this.session.speed) return;
    const commands = (await this.call("capabilities")).commands.map((command) => command.name);
    const speeds = commands.includes("list_speeds") ? (await this.call("list_speeds")).items.map((speed) => speed.id) : [];
    this.timeRights = { commands, speeds };
    this.drawHead();
  }

  /** Only in rooms without a game: in others the world owns the view. */
  async fetchApp() {
    if (this.session?.is_played ?? true) return;
    const { app = null, view } = (await this.manage.may("app_view")) ? await this.call("app_view") : {};
    this.app.draw(app, view);
  }

  /** Only in worlds with bodies, and in the Nexus. What is offered changes with what happens to the body. */
  async fetchBody() {
    if (!(await this.manage.may("avatars")) && !(await this.manage.may("leave_game"))) return;
    const commands = (await this.call("capabilities")).commands.map((command) => command.name);
    const avatars = commands.includes("avatars") ? (await this.call("avatars")).avatars ?? [] : null;
    const game = this.frontEnd.offers("leave_game") ? null : this.view?.observation.status?.in_game; // or on the map of the Nexus
    this.body.draw(commands, avatars, game);
    this.drawTurn();
  }

  /** Those who came only for a visit are no members any more when they have left the game, maybe before the reply arrives. */
  async callBody(command, args) {
    this.farewell = command === "exit_game" ? LEFT : null;
    try {
      return await this.connection.callOnce(command, args, this.room);
    } catch (error) {
      if (error.code !== "LOST") this.farewell = null;
      throw error;
    }
  }

  /** Only where agents play, or one can play for us. */
  async fetchAgents() {
    const some = this.me?.stand_in || this.agents.hasAny || this.session.members.some((m) => m.played_by);
    if (this.me && some) this.agents.draw(this.me, (await this.call("agents")).agents, this.view?.observation.status);
    this.drawers.draw();
  }

  /** The keys of the world, its document, where it has one, and what a document may call with our grant. */
  async fetchFrontEnd() {
    if (!this.session.front_end) document.body.classList.remove("alone"); // there is nothing to show alone
    const rights = JSON.stringify([this.me?.grant, this.me?.seat]);
    if (!this.me || rights === this.frontEndRights) return;
    this.frontEndRights = rights;
    const { commands } = await this.call("schemas");
    this.keys.draw(commands.some(({ name }) => name === "keys") ? (await this.call("keys")).keys : []);
    if (!this.session.front_end || !this.seesWorld()) return;
    this.frontEnd.show((await this.call("front_end")).html, commands);
    this.world.drawPicture(null); // the document has a better one
    this.aloneLink.hidden = false;
    if (this.text.contains(this.world.element)) return;
    this.text.append(this.world.element);
    this.drawers.draw();
    this.drawTurn();
  }

  async fetchPicture() {
    if (!this.me?.grant.perceive.includes("see_screen") || !this.view || this.frontEnd.shown || this.spectate.view) return;
    try {
      if (!(await this.manage.may("picture"))) return;
      await this.world.drawPicture(await this.call("picture"));
    } catch (error) {
      if (error.code === "LOST") return;
      this.world.drawPicture(null);
      this.hasPictures = !["UNKNOWN_COMMAND", "GAME_REJECTED"].includes(error.code);
    }
  }

  async fetchDescription() {
    const { title, description, action_space } = await this.call("rules");
    this.worldTitle = title;
    this.hasExamples = Boolean(action_space.examples);
    setText(this.title, title);
    this.drawers.draw();
    this.description.replaceChildren(...markdown(description));
    this.drawHead();
    if (this.hasPictures) await this.fetchPicture();
  }

  seesWorld() {
    return Boolean(this.me?.grant.perceive.some((capability) => SEES_WORLD.includes(capability)));
  }

  // -- acting ------------------------------------------------------------------------------------
  /** Report a message, by its number in our inbox. What is no longer there is named by its author. */
  async report(item, reason) {
    const { items = [] } = (await this.manage.may("recv_messages")) ? await this.call("recv_messages", { max: 500 }) : {};
    const number = numberOf(item, items);
    return this.connection.callOnce("report", { reason, ...(number ? { messages: [number] } : { member: item.by }) }, this.room);
  }

  /** Our token may end with it, maybe before the reply arrives. */
  async leave() {
    this.farewell = `You have left the room ${escapeInvisible(this.room)}.`;
    try {
      await this.connection.callOnce("leave", {}, this.room);
      this.onUnavailable(this.farewell);
    } catch (error) {
      if (error.code === "LOST") return;
      this.farewell = null;
      setText(this.you.result, error.message);
    }
  }

  /** A call of the document of this world. From the Nexus the page follows to the game; the token for it stays here. */
  async callForDocument(name, args, changes) {
    if (name === "scene" && this.spectate.view) return this.spectate.scene();
    if (name === "next_view") return this.nextView(args);
    const result = await this.connection[changes ? "callOnce" : "call"](name, args, this.room);
    const { token = this.connection.token, ...data } = result?.data ?? {};
    if (!changes || this.session?.world !== NEXUS || typeof data.room !== "string" || data.room === this.room) return result;
    setTimeout(() => this.travelTo(data.room, token)); // when the document has its answer
    return { ...result, data };
  }

  /** The next view that is shown: the live one, or that of spectators. */
  async nextView(args) {
    const live = this.spectate.view ? null : await Promise.race([this.call("next_view", args), this.spectate.changed()]);
    return (await this.spectate.next(args.since)) ?? live ?? this.call("next_view", args);
  }

  /** An action may lead to another room, with a token for it, or with the one that we have. */
  linkOf(result) {
    const { room, token = this.connection.token } = result?.data ?? {};
    if (typeof room !== "string" || room === this.room) return null;
    const href = `?room=${encodeURIComponent(room)}#${encodeURIComponent(token)}`;
    return h("a", { href, onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of its own is wanted
      event.preventDefault();
      this.travelTo(room, token);
    } }, `Open the room ${room}`);
  }

  isMyTurn() {
    return Boolean(this.me && !this.me.played_by && this.view && !this.view.over && this.isPlayer() && this.view.to_move.includes(this.me.handle));
  }

  /** The world has closed our seat until the next game: we have lost. */
  isOut() {
    const { me, view, session } = this;
    return Boolean(me?.seat && session && view && !view.over && !session.seats.includes(me.seat) && !this.body.offered.length);
  }

  /** False for members who only watch, also through the seat of a player, and in an archived room. */
  isPlayer() {
    return !this.me || !(isWatchOnly(this.me) || watchedSeat(this.me) || this.session?.archived);
  }

  // -- drawing -----------------------------------------------------------------------------------
  /** The board replaces the text of a workspace, for members who may see it. A room without a game has no turns. */
  drawWorld() {
    const { session, view } = this;
    const works = session?.world === WORKSPACE && view !== null;
    const talks = session?.is_played === false && view !== null && !works;
    this.boardPlace.hidden = !works;
    this.lounge.hidden = !talks;
    this.world.element.hidden = works || talks;
    if (works) this.showBoard();
    else if (talks) setText(this.lounge, view.observation.text);
    else if (view) this.world.draw(view.text, this.isPlayer());
  }

  async showBoard() {
    this.board ??= import("./board.js").then(({ Board }) => {
      const board = new Board((command, args) => this.call(command, args));
      this.boardPlace.append(board.element);
      return board;
    });
    const board = await this.board;
    if (this.view) board.update(this.view.observation.status);
  }

  /** What everybody is offered who may use it: to leave, and to report messages. */
  drawOffers() {
    const { usable } = this.manage;
    this.spectate.draw(usable);
    this.hosts = (this.session?.members ?? []).filter((m) => m.role === "host").map((m) => m.handle);
    this.you.offerLeave(usable.includes("leave"), this.me !== null && usable.includes("mute") && String(this.hosts) === this.me.handle);
    const mayReport = usable.includes("report") && !usable.includes("reports"); // they come to hosts
    this.events.offerReports(mayReport ? this.me?.handle ?? null : null);
  }

  recipients() {
    return ["everybody", ...(this.session?.members ?? []).map((m) => m.handle)];
  }

  drawHead() {
    const { session } = this;
    if (!session) return;
    if (this.timeRights) this.time.draw(this.timeRights, session);
    this.notice.hidden = !session.notice;
    setText(this.notice, escapeInvisible(session.notice ?? ""));
    const facts = session.world === WORKSPACE || session.is_played === false ? [`room ${session.room}`] : [
      `room ${session.room}`, `world ${session.world}`,
      session.scenario !== session.world && `scenario ${session.scenario}`, `game ${session.game ?? 1}`,
      session.partial_intel && "fog", session.speed && !this.time.showsSpeed && `speed ${session.speed}`,
    ];
    setText(this.subtitle, facts.filter(Boolean).join(" · "));
  }

  drawYou() {
    if (!this.me) return;
    // The roster has the usual name of the role; in rooms of another protocol whoami has the name that it uses.
    const line = this.session?.members.find((m) => m.handle === this.me.handle);
    this.you.draw(this.me, line?.role ?? this.me.role, watchedSeat(this.me) ? null : this.view?.total_reward ?? null, this.session?.is_played ?? true);
  }

  /** A form for every action, where the world does not list all that are possible. */
  async drawForms() {
    const { me, view } = this;
    const mayAct = me && view && !view.over && !me.played_by && !this.session?.archived && (this.isMyTurn() && !isWatchOnly(me) || me.grant.act.includes("act_global"));
    const listed = Boolean(view?.observation.choices?.length) && this.isMyTurn();
    if (!mayAct || this.frontEnd.controls === true || (listed && !this.hasExamples)) {
      this.forms.draw([]);
      this.drawFormsButton(listed);
      return;
    }
    const grant = JSON.stringify(me.grant.act);
    if (this.actionsFor !== grant) {
      await this.guarded(async () => {
        this.actions = (await this.call("schemas")).commands.filter((c) => c.where === "world" && c.category === "action" && c.records);
        this.actionsFor = grant;
      });
      if (this.actionsFor === grant) await this.drawForms(); // the turn may have passed in the meantime
      return;
    }
    this.forms.draw(this.actions);
    this.drawFormsButton(listed);
  }

  /** The way to the forms; it is the main one where the world lists no choices. */
  drawFormsButton(listed) {
    const { hasAny } = this.forms;
    this.formsButton.hidden = !hasAny;
    setText(this.formsButton, listed ? "Other actions …" : "Choose an action …");
    this.formsButton.classList.toggle("primary", !listed);
    this.drawers.draw();
  }

  drawTurn() {
    const { view, session } = this;
    const mine = this.isMyTurn();
    const [title, choices] = offered(this);
    this.choices.draw(title, choices);
    this.drawers.name("body", session?.world === NEXUS ? "Travel" : "Body");
    this.drawForms();
    if (mine) this.element.style.setProperty("--bar", `${this.choices.offer.parentElement.offsetHeight}px`);
    this.turn.dataset.mine = String(mine);
    const several = view?.to_move.length > 1;
    const text = turnText(this.me, view, session, mine, this.isOut());
    setText(this.turn, text);
    this.turn.hidden = !text;
    this.element.classList.toggle("seated", Boolean(this.me?.seat && this.isPlayer() && this.frontEnd.controls.length === 0));
    this.drawCountdown();
    const over = Boolean(view?.over && session?.is_played !== false && !session?.archived);
    this.ending.draw(over, this.standing, this.manage.mayRematch, session?.next_game_seconds !== undefined);
    this.manage.drawRematch(over);
    this.keys.showPad(mine && !this.frontEnd.shown);
    this.drawers.draw();
    document.title = [mine && !several && "Your turn", this.worldTitle ?? this.room, "Cohabit"].filter(Boolean).join(" · ");
  }

  drawStandings(status) {
    this.standing = status;
    this.standings.draw(status);
    this.drawTurn();
  }

  /** The time until the turn ends, or until the next game begins. */
  drawCountdown() {
    const { turn_seconds_left: left, next_game_seconds: next, turn_ends_utc: ends, game } = this.session ?? {};
    if (this.view?.over) this.countdown.set(next ?? null, game, "Next game in ");
    else this.countdown.set(left ?? null, ends, "", " left");
  }

  drawPeople() {
    if (!this.me || !this.session) return;
    this.manage.draw(this.me, this.session);
    const movers = this.view && !this.view.over && !this.session.archived && this.view.to_move.length < 2 ? this.view.to_move : [];
    this.roster.draw(this.session.members, this.session.member_count, this.me.handle, movers);
    this.message.draw(this.me, this.session.members, this.session.archived);
  }
}
