// A room that is watched again: fetches what was seen of it, in pages, and shows it with the player of films.

import { Player } from "../front_ends/player.js";
import { h, throttled } from "./dom.js";

const FRAMES = 200; // of a page
const MAKING_MS = 1_500; // of a page, where time runs by itself
const MAX_FRAMES = 20_000; // that are loaded, where each change has its frame
const WINDOW_MS = 60_000; // of detail, where time runs by itself; more at higher speeds
const RETRIES = 30;
const ADDRESS_MS = 500;
const GROW_MS = 1_500;
const LOADING_MS = 2_000; // after which the page says how long it has taken

export class ReplayScreen {
  alone = true; // the board is the page

  /** `at`: the position to begin with; null: the beginning. */
  constructor(connection, room, at) {
    this.connection = connection;
    this.room = room;
    this.at = at;
    this.seat = "";
    this.wanted = null; // the position to go to, as soon as it is loaded
    this.fetching = Promise.resolve(); // the house makes one film at a time for a member
    this.loading = h("p", { class: "loading" }, "Loading …");
    this.element = h("div", { class: "replay" }, this.back(), this.loading);
    this.grow = throttled(() => this.fetchNewest().catch(() => {}), GROW_MS);
    this.saveAddress = throttled(() => this.setAddress(), ADDRESS_MS);
    if (!document.getElementById("player-style")) {
      document.head.append(h("link", { id: "player-style", rel: "stylesheet", href: "front_ends/player.css" }));
    }
  }

  /** Called when the connection is ready, and again after each reconnect. */
  async start() {
    const began = performance.now();
    const clock = setInterval(() => {
      const seconds = Math.round((performance.now() - began) / 1000);
      this.loading.textContent = `Loading … ${seconds} s. The house is playing the record again.`;
    }, LOADING_MS);
    try {
      const { cursor } = await this.call("events", { last: 1 });
      await this.call("subscribe", { cursor, views: false });
      if (this.player) return;
      [this.me, this.session] = [await this.call("whoami"), await this.call("session_info")];
      this.inTime = Boolean(this.session.speed); // time runs by itself
      this.page = this.session.front_end ? (await this.call("front_end")).html : "";
      document.title = `Replay · ${this.room} · Cohabit`;
      await this.open();
    } catch (error) {
      if (error.code !== "LOST") this.element.replaceChildren(h("p", { class: "loading", role: "alert" }, error.message), this.back());
    } finally {
      clearInterval(clock);
    }
  }

  stop() {
    this.stopped = true;
    this.player?.stop();
    this.call("unsubscribe").catch(() => {}); // the connection or the room may be gone already
  }

  /** Something has happened in the room. */
  push(frame) {
    if (frame.room === this.room && frame.push === "events" && this.player?.reel.live) this.grow();
  }

  call(command, args = {}) {
    return this.connection.call(command, args, this.room);
  }

  /** Show the film through the eye that is chosen. */
  async open() {
    const { film, to, end } = this.inTime ? await this.fetchBeginning() : await this.fetchPage({ cursor: "", from: 0 });
    if (this.stopped) return;
    if (!film.frames.length) throw new Error("Nothing is shown yet: spectators see everything some steps later.");
    const loadMore = this.inTime ? (from, speed) => this.fetchWindow(from, WINDOW_MS * Math.max(1, speed)) : null;
    this.player?.stop();
    this.player = new Player(this.element, film, {
      document: this.page, loadMore, inTime: this.inTime, grows: true, more: to < end, address: "frame", at: this.at === null ? null : this.placeOf(this.at, film),
    });
    this.player.extras.append(this.eyes());
    this.player.bar.prepend(this.back());
    this.player.onMove = () => this.saveAddress();
    const rest = this.inTime ? this.fetchRestOfOverview(film.frames.length, to, end) : this.fetchRest();
    this.rest = rest.catch((error) => this.player.say(error.message));
  }

  // -- pages -------------------------------------------------------------------------------------
  /** Ask for a film, one after another; as long as the house is preparing it, again. */
  film(args) {
    const ask = async () => {
      for (let tries = 0; ; tries += 1) {
        try {
          return await this.call("film", { frames: FRAMES, seat: this.seat, ...args });
        } catch (error) {
          if (error.code !== "BUSY" || tries >= RETRIES || this.stopped) throw error;
          await new Promise((resolve) => setTimeout(resolve, 1_000));
        }
      }
    };
    this.fetching = this.fetching.then(ask, ask);
    return this.fetching;
  }

  /** A page of a film in which each change has its frame. It is kept in `newest`, and asked for again when the room grows. */
  async fetchPage({ cursor, from }) {
    const { film, next } = await this.film(cursor ? { cursor } : {});
    const [first, second] = film.frames;
    if (first && second && !first.at) first.at = second.at; // it stands for all the time before
    from ||= first?.seq ?? 0;
    this.newest = { cursor, from, next, film, to: film.frames.at(-1)?.seq ?? from };
    return this.newest;
  }

  async fetchRest() {
    const { seat } = this;
    for (let frames = FRAMES; this.newest.next && !this.stopped && seat === this.seat; frames += this.newest.film.frames.length) {
      if (frames >= MAX_FRAMES) return this.player.say(`Only the first ${MAX_FRAMES.toLocaleString("en")} changes are shown.`);
      this.player.add(await this.fetchPage({ cursor: this.newest.next, from: this.newest.to + 1 }));
      if (this.wanted === null || this.player.reel.last < this.wanted) continue;
      this.player.seek(this.wanted);
      this.wanted = null;
    }
  }

  /**
   * The film in few frames, where time runs by itself: as much as the house makes within a moment, as it plays the record
   * again for that. `to`: the time until which it goes, `end`: until which there is more.
   */
  async fetchOverview(args) {
    const page = await this.film({ within_ms: MAKING_MS, ...args });
    page.film.live &&= page.to >= page.end; // or the end of what is loaded would be called live
    return page;
  }

  /** The beginning of the overview, with something to see. */
  async fetchBeginning() {
    let page = await this.fetchOverview({});
    while (!page.film.frames.length && page.to < page.end && !this.stopped) {
      page = await this.fetchOverview({ first: page.to + 1, last: page.end });
    }
    return page;
  }

  async fetchRestOfOverview(frames, to, end) {
    const { player } = this;
    while (to < end && !this.stopped && player === this.player) {
      const page = await this.fetchOverview({ first: to + 1, last: end, frames: Math.max(1, FRAMES - frames) });
      if (player !== this.player) return;
      frames += page.film.frames.length;
      to = page.to;
      player.extend(page.film, to, to < end);
      if (this.wanted === null || to < this.wanted) continue;
      player.seek(this.wanted);
      this.wanted = null;
    }
  }

  async fetchWindow(from, length) {
    const last = from + length;
    const { film, next, to } = await this.film({ first: from, last, within_ms: MAKING_MS });
    film.live &&= !this.player.more;
    return { film, from, to: next ? to : Math.max(to, Math.min(last, this.player.reel.last)) };
  }

  /** What has been added to a live room. */
  async fetchNewest() {
    if (this.stopped) return;
    if (!this.inTime) {
      await this.rest; // it goes on from the same page
      this.player.add(await this.fetchPage(this.newest));
      await this.fetchRest();
      return;
    }
    const from = this.player.reel.last + 1;
    const { film } = await this.film({ first: from, frames: 20 });
    if (film.frames.length) this.player.add({ film, from, to: film.frames.at(-1).at });
  }

  // -- controls ----------------------------------------------------------------------------------
  /** The eyes through which one can look: one's own, those of all seats, and one that sees everything. */
  eyes() {
    const seats = [["", "My view"], ["all", "Everything"], ...this.session.seats.map((seat) => [seat, `Seat ${seat}`])];
    const chooser = h("select", { "aria-label": "Whose view", onchange: async () => {
      const before = this.seat;
      [this.seat, this.at] = [chooser.value, this.position()];
      try {
        await this.open();
      } catch (error) {
        chooser.value = this.seat = before;
        this.player.say(error.message);
      }
    } }, seats.map(([seat, name]) => h("option", { value: seat, selected: seat === this.seat }, name)));
    return chooser;
  }

  back() {
    return h("a", { class: "replay-back", href: `?room=${encodeURIComponent(this.room)}`, "aria-label": "To the room", title: "To the room" });
  }

  /** The position as it is in the address: an entry, or seconds since the beginning. */
  position() {
    const { seq, reel } = this.player;
    return this.inTime ? Math.round((seq - reel.first) / 1000) : seq;
  }

  placeOf(at, film) {
    const [first, last] = [film.frames[0], film.frames.at(-1)];
    const [place, loaded] = this.inTime ? [first.at + 1000 * at, last.at] : [at, last.seq];
    this.wanted = place > loaded ? place : null; // when it is loaded
    return Math.min(place, loaded);
  }

  setAddress() {
    if (this.stopped || !this.player) return;
    history.replaceState(null, "", `?room=${encodeURIComponent(this.room)}&at=${this.position()}`);
  }
}
