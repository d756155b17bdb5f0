// The player of films: the page, exported files and notebooks show them with it. It hosts the front end of the world, and
// answers its calls with what was seen at the position; a world without a front end is shown as text.

import { escapeInvisible, h, setText } from "./elements.js";
import { lastUntil, Reel } from "./film.js";
import { Host } from "./host.js";
import { clock, Story, Why } from "./story.js";
import { marked, Timeline } from "./timeline.js";

const SPEEDS = [0.5, 1, 2, 5, 20];
const [SHORTEST_MS, LONGEST_MS] = [20, 4_000]; // of a frame, where a film is shown in its own time
const FRAME_MS = 1_000; // of each frame where that would be too fast or too slow
const TIMER_MS = 33;
const [AHEAD, AHEAD_MS] = [150, 15_000]; // so much is loaded ahead of the position
const SCENES_KEPT = 32;
const TIMED_MS = 10_000; // a shorter film was not played in real time, so its times say nothing
const WIDE = 720; // px, as in the style sheet: the story stands beside the board

export class Player {
  #waiting = []; // for another frame
  #scenes = new Map(); // the layers of scenes that the document has, by id
  #timer = null;
  #loading = null;
  #follows = false; // a live film: the position is the newest entry

  /**
   * `document`: the front end of the world; empty: there is none. `loadMore(from, speed)`: a promise of more of the film,
   * with `film` and the positions `from` and `to` that it is about; null: `film` is all of it. `inTime`: positions are
   * times, not entries. `grows`: more is added as it happens. `more`: the overview is extended later. `address`: of an empty frame of the house. `at`: the position to begin with.
   */
  constructor(element, film, { document: page = "", loadMore = null, inTime = false, grows = false, more = false, address = "", at = null } = {}) {
    this.film = film;
    this.reel = new Reel(film, { inTime });
    this.ahead = inTime ? AHEAD_MS : AHEAD;
    this.loadMore = loadMore;
    this.grows = grows;
    this.more = more;
    this.seq = at ?? this.reel.first;
    this.speed = 1;
    this.playing = false;
    this.#build(page, address);
    element.replaceChildren(this.element);
    this.onKeyDown = (event) => this.#onKeyDown(event);
    document.addEventListener("keydown", this.onKeyDown);
    this.seek(this.seq);
    this.#open(this.element.clientWidth >= WIDE ? this.story : null);
  }

  stop() {
    this.pause();
    document.removeEventListener("keydown", this.onKeyDown);
    this.host?.stop();
    this.element.remove();
    this.stopped = true;
  }

  // -- the elements ------------------------------------------------------------------------------
  #build(page, address) {
    const seek = (seq) => this.seek(seq);
    this.timeline = new Timeline(seek);
    this.story = new Story(seek);
    this.why = new Why(seek, () => this.#drawPages());
    this.text = h("pre", { class: "film-text", tabindex: "0", "aria-label": "What was seen", hidden: Boolean(page) });
    this.note = h("p", { class: "film-note", role: "status", hidden: true });
    this.stage = h("div", { class: "film-stage" }, this.text, this.note);
    this.playButton = this.#button("play", "Play", () => (this.playing ? this.pause() : this.play()));
    this.where = h("span");
    this.also = h("span", { class: "film-also" });
    this.speeds = h("select", { class: "film-speed", "aria-label": "Speed", onchange: () => this.setSpeed(Number(this.speeds.value)) },
      SPEEDS.map((speed) => h("option", { value: String(speed), selected: speed === 1 }, `${speed}×`)));
    this.liveButton = h("button", { type: "button", class: "film-live", hidden: true, onclick: () => this.follow() }, "Live");
    this.extras = h("div", { class: "film-extras" }); // of the page
    this.storyButton = this.#tab("Story", () => this.#open(this.open === this.story ? null : this.story));
    this.whyButton = this.#tab("Why", () => this.#open(this.open === this.why ? null : this.why));
    this.side = h("aside", { class: "film-side", "aria-label": "Beside the board" }, this.#heading(), this.story.element, this.why.element);
    this.bar = h("div", { class: "film-bar", role: "group", "aria-label": "Playback" },
      this.timeline.element,
      this.#button("back", "One frame back", () => this.step(-1)), this.playButton, this.#button("next", "One frame forward", () => this.step(1)),
      h("span", { class: "film-where" }, this.where, this.also), h("span", { class: "film-space" }), this.liveButton, this.speeds, this.storyButton, this.whyButton);
    this.element = h("section", { class: "film", "aria-label": `Replay of ${this.film.title}` },
      h("h1", { class: "film-title" }, `Replay: ${escapeInvisible(this.film.title)}`),
      h("div", { class: "film-grid" }, this.stage, this.side, this.bar));
    if (page) this.#host(page, address);
  }

  #heading() {
    const { title, eye, seats = {} } = this.film;
    const names = Object.entries(seats).map(([seat, name]) => (name === seat ? seat : `${seat}: ${name}`)).map(escapeInvisible);
    const seen = eye === "all" ? "with everything in sight" : eye === "public" ? "what everybody may see" : `as ${escapeInvisible(seats[eye] ?? eye)} saw it`;
    return h("header", {}, h("p", { class: "film-name", "aria-hidden": "true" }, escapeInvisible(title)), h("p", {}, [seen, ...names].join(" · ")), this.extras);
  }

  #button(icon, label, action) {
    return h("button", { type: "button", class: "film-button", "data-icon": icon, "aria-label": label, title: label, onclick: action });
  }

  #tab(label, action) {
    return h("button", { type: "button", class: "film-tab", "aria-pressed": "false", onclick: action }, label);
  }

  /** Show the story or the reasons beside the board; null: neither. */
  #open(which) {
    this.open = which;
    this.side.hidden = which === null;
    for (const [each, button] of [[this.story, this.storyButton], [this.why, this.whyButton]]) {
      each.element.hidden = each !== which;
      button.setAttribute("aria-pressed", String(each === which));
    }
    this.#drawPages();
    this.#draw();
  }

  // -- what the document sees --------------------------------------------------------------------
  #host(page, address) {
    this.host = new Host({
      commandOf: (name) => this.#commandOf(name), address, context: { cohabit: { replay: true } },
      title: `What was seen of ${this.film.title}`, onKey: (key) => this.#onKey(key),
    });
    this.stage.prepend(this.host.element);
    this.host.show(page);
  }

  #commandOf(name) {
    if (name === "next_view") return ({ since }) => this.#nextView(since);
    if (name === "scene") return ({ since }) => this.#scene(since);
    if (name === "keys") return () => ({ keys: this.film.keys ?? [] });
    return () => {
      throw Object.assign(new Error("this is a replay: nothing can be done in it"), { code: "REPLAY" });
    };
  }

  /** Wait for another frame than the one that the document has. */
  async #nextView(since) {
    while (this.#id() === since) await new Promise((resolve) => this.#waiting.push(resolve));
    return { ...this.seen.view, id: this.#id() };
  }

  #scene(since = "") {
    const [id, layers, known] = [this.#id(), this.seen.scene, this.#scenes.get(since)];
    this.#scenes.set(id, layers);
    if (this.#scenes.size > SCENES_KEPT) this.#scenes.delete(this.#scenes.keys().next().value);
    if (!known) return { id, layers };
    const changed = Object.entries(layers).filter(([name, layer]) => known[name] !== layer);
    return { id, layers: Object.fromEntries(changed), since, names: Object.keys(layers) };
  }

  #id() {
    return `frame ${this.seen.seq}`;
  }

  get #isLive() {
    return this.grows && this.reel.live;
  }

  // -- moving ------------------------------------------------------------------------------------
  /** Go to a position. What is not loaded yet is loaded first. */
  seek(seq) {
    this.seq = Math.min(Math.max(Math.round(seq), this.reel.first), this.reel.last);
    this.#follows = false;
    this.#arrive();
  }

  step(frames) {
    this.pause();
    this.seek(this.reel.step(this.seq, frames));
  }

  play() {
    if (this.seq >= this.reel.last && !this.#isLive && !this.more) this.seek(this.reel.first);
    this.#setPlaying(true);
    this.#schedule();
  }

  pause() {
    this.#setPlaying(false);
  }

  setSpeed(speed) {
    this.speed = speed;
    this.speeds.value = String(speed);
    if (this.playing) this.#schedule();
  }

  /** Show what is happening now, and go on with it. */
  follow() {
    this.seq = this.reel.last;
    this.#arrive();
    this.#follows = this.#isLive;
    this.#setPlaying(true);
  }

  #setPlaying(playing) {
    clearTimeout(this.#timer);
    this.playing = playing;
    if (!playing) this.#follows = false;
    this.playButton.dataset.icon = playing ? "pause" : "play";
    this.playButton.title = playing ? "Pause" : "Play";
    this.playButton.setAttribute("aria-label", this.playButton.title);
    this.liveButton.setAttribute("aria-pressed", String(this.#follows));
  }

  #arrive() {
    this.seen = this.reel.at(this.seq);
    const missing = this.reel.missing(this.seq);
    const ahead = this.reel.missing(Math.min(this.seq + this.ahead, this.reel.last));
    if (missing !== null) this.#load(missing).then((loaded) => loaded && this.#arrive());
    else if (ahead !== null) this.#load(ahead);
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#draw();
  }

  // -- playing -----------------------------------------------------------------------------------
  /** Show the frames that are due, and wait for the next one. */
  #schedule(from = performance.now()) {
    clearTimeout(this.#timer);
    if (!this.playing || this.stopped || this.#follows) return;
    const next = this.reel.step(this.seq, 1);
    if (next <= this.seq) {
      if (!this.#isLive && !this.more) this.pause();
      return; // a live film grows, and so does one that is still loaded
    }
    const due = from + this.#duration(next) / this.speed;
    this.#timer = setTimeout(() => this.#showDue(due), Math.max(due - performance.now(), TIMER_MS));
  }

  #showDue(due) {
    const now = performance.now();
    let next = this.reel.step(this.seq, 1);
    let from = due;
    for (; due <= now && next > this.seq && this.reel.missing(next) === null; due += this.#duration(next) / this.speed) {
      [this.seq, from] = [next, due];
      next = this.reel.step(this.seq, 1);
    }
    this.#arrive();
    const missing = next > this.seq ? this.reel.missing(next) : null;
    if (missing !== null && this.loadMore) this.#load(missing).then((loaded) => (loaded ? this.#schedule() : this.pause()));
    else this.#schedule(Math.max(from, now - FRAME_MS));
  }

  /** How long the current frame stays before this one, in ms. */
  #duration(next) {
    if (!this.inOwnTime) return FRAME_MS;
    return Math.min(Math.max(this.reel.at(next).at - this.reel.at(this.seq).at, 0), LONGEST_MS);
  }

  // -- loading -----------------------------------------------------------------------------------
  /** Show a message over the board; an empty one removes it. */
  say(text) {
    setText(this.note, text);
    this.note.hidden = !text;
  }

  /** Add a part of the film. */
  add({ film, from, to }) {
    if (this.stopped) return;
    this.reel.add(film, from, to);
    this.#drawPages();
    this.#draw();
    if (this.#follows) this.follow();
    else if (this.playing) this.#schedule();
  }

  /** Add to the overview of a film in time what comes after it, up to a time. `more`: that was not all. */
  extend(film, to, more) {
    if (this.stopped) return;
    this.reel.extend(film, to);
    this.more = more;
    this.#drawPages();
    this.#draw();
    if (this.playing) this.#schedule();
  }

  /** Load what comes from a position on, one part at a time. Returns whether there was something. */
  async #load(from) {
    if (!this.loadMore) return false;
    if (this.#loading) {
      await this.#loading;
      const missing = this.reel.missing(this.seq);
      return missing === null || this.stopped || this.#load(missing);
    }
    this.say(this.reel.missing(this.seq) === null ? "" : "Loading …");
    this.#loading = this.loadMore(from, this.speed).catch((error) => ({ error }));
    const { error, ...part } = await this.#loading;
    this.#loading = null;
    this.say(error?.message ?? "");
    if (error || this.stopped) return false;
    this.reel.add(part.film, part.from, part.to);
    this.#drawPages();
    return part.film.frames.length > 0 || this.reel.missing(from) === null;
  }

  // -- drawing -----------------------------------------------------------------------------------
  /** What changes with a page, and with what stands beside the board. */
  #drawPages() {
    const { reel } = this;
    const { gap, span } = reel.pace;
    this.inOwnTime = gap >= SHORTEST_MS && gap <= LONGEST_MS;
    this.isTimed = span >= TIMED_MS;
    this.timeline.setRange(reel.first, reel.last, reel.loaded);
    this.events = marked(reel.events);
    this.why.draw(reel.decisions, this.seq);
    this.timeline.setMarks(this.events, this.open === this.why ? this.why.decisions : []);
    this.liveButton.hidden = !this.#isLive;
    this.whyButton.hidden = !reel.decisions.length;
  }

  #draw() {
    const { reel, seen } = this;
    const time = clock((reel.inTime ? this.seq : seen.at) - reel.began);
    const [position, end] = reel.inTime ? [time, clock(reel.last - reel.began)] : [this.seq, reel.last];
    const also = this.isTimed && !reel.inTime ? time : "";
    this.timeline.setPosition(this.seq, `${reel.inTime ? "" : "entry "}${position} of ${end}${also && `, ${also}`}`);
    setText(this.where, `${position} / ${end}${this.more ? " …" : ""}`);
    setText(this.also, also && ` · ${also}`);
    setText(this.text, seen.view.text ?? "");
    this.story.draw(reel.events, this.seq, this.isTimed ? reel.began : null);
    if (this.open === this.why) this.why.draw(reel.decisions, this.seq);
    this.onMove?.(this.seq);
  }

  // -- keys --------------------------------------------------------------------------------------
  #onKeyDown(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("select, summary, textarea, input:not(.film-slider)")) return;
    if (event.key === " " && event.target.matches("button")) return; // it presses the button
    if (this.#onKey(event.key)) event.preventDefault();
  }

  #onKey(key) {
    const action = {
      " ": () => (this.playing ? this.pause() : this.play()),
      "ArrowLeft": () => this.step(-1), "ArrowRight": () => this.step(1), ",": () => this.step(-1), ".": () => this.step(1),
      "ArrowUp": () => this.#toEvent(-1), "ArrowDown": () => this.#toEvent(1),
      "Home": () => this.seek(this.reel.first), "End": () => this.seek(this.reel.last),
      "<": () => this.#faster(-1), ">": () => this.#faster(1),
    }[key];
    action?.();
    return Boolean(action);
  }

  #faster(steps) {
    const index = SPEEDS.indexOf(this.speed) + steps;
    this.setSpeed(SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)]);
  }

  /** To the event with a mark before or after the position. */
  #toEvent(direction) {
    const at = direction > 0 ? lastUntil(this.events, this.seq) + 1 : lastUntil(this.events, this.seq - 1);
    if (this.events[at]) this.seek(this.events[at].seq);
  }
}
