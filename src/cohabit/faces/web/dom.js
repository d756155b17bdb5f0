// Helpers for building elements. Data only ever becomes text nodes and attributes: no script on this page parses HTML.

import { escapeInvisible, h, setText } from "../front_ends/elements.js";

export { escapeInvisible, h, setText };

/** A card with a heading that also labels it. */
export function card(title, name, ...children) {
  const id = `card-${name}`;
  return h("section", { class: `card ${name}`, "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

/** A sentence of the house without hints at commands, for people who use buttons: "(see `reports`)". */
export function withoutHints(text) {
  return text.replace(/ \(see `\w+`\)/g, "").replace(/`(\w+)`/g, "$1").replace(/(?<![\d.,])1 (repl(?=ies)|pushed frames|bytes)(ies)?/g, (_, word) => `1 ${word === "repl" ? "reply" : word.slice(0, -1)}`);
}

// -- the colours of members ---------------------------------------------------------------------
const TINTS = 8; // the number of colours in the style sheet
const COLOUR = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;
const colours = new Map(); // of members, as the pictures of the world show their seats
const tints = new Map(); // of members whose seat has no such colour
const names = new Map(); // as members typed them

/** A member, in the same colour for everybody and at any time: by the name that it typed, if nobody else goes by it. */
export function memberName(handle) {
  return paint(h("span", { class: "name", "data-member": handle }));
}

/** The same name in a sentence. */
export function nameInWords(handle) {
  return escapeInvisible(names.get(handle) ?? handle);
}

/** A score, without the digits that only a computer has: 0.78 for 0.7777777777777777. */
export function scoreShown(score) {
  return String(Math.round(score * 100) / 100);
}

/** The name of a seat without a player. */
export function seatName({ name, colour }) {
  return withSwatch(h("span", {}, escapeInvisible(name)), colour);
}

/**
 * Set the colours of members: that of their seat where `standings` has one, else one for the position of the seat in
 * `seats`. Members without a seat have a colour that depends on the handle alone.
 */
export function setColours(members, seats, standings) {
  const bySeat = new Map(standings.map((s) => [s.seat, s.colour]));
  colours.clear();
  tints.clear();
  for (const { handle, seat } of members) {
    if (!seat) continue;
    if (COLOUR.test(bySeat.get(seat))) colours.set(handle, bySeat.get(seat));
    else if (seats.includes(seat)) tints.set(handle, seats.indexOf(seat) % TINTS);
  }
  names.clear();
  const taken = (name) => members.filter((m) => [m.handle, m.name].some((known) => known?.toLowerCase() === name.toLowerCase())).length > 1;
  for (const { handle, name } of members) if (name && name !== handle && !taken(name)) names.set(handle, name);
  document.querySelectorAll(".name[data-member]").forEach(paint);
}

function paint(element) {
  const handle = element.dataset.member;
  setText(element, nameInWords(handle));
  element.dataset.tint = colours.has(handle) ? "seat" : String(tints.get(handle) ?? hash(handle) % TINTS);
  return withSwatch(element, colours.get(handle));
}

/** Show a colour next to a text. Not as the colour of the text: a light one could not be read. */
function withSwatch(element, colour) {
  const known = COLOUR.test(colour ?? "");
  element.classList.toggle("swatch", known);
  if (known) element.style.setProperty("--swatch", colour);
  else element.style.removeProperty("--swatch");
  return element;
}

function hash(text) {
  let found = 2166136261; // FNV-1a
  for (const character of text) found = Math.imul(found ^ character.codePointAt(0), 16777619) >>> 0;
  return found;
}

// -- dates and times ----------------------------------------------------------------------------
/** A date and time to the minute, as is usual where the visitor lives. */
export function dateTime(ms) {
  return new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** The time of an event, with the date if it was not today. */
export function timestamp(ms) {
  const at = new Date(ms);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  const today = at.toDateString() === new Date().toDateString();
  const shown = today ? time : `${at.toLocaleDateString([], { day: "numeric", month: "short" })} ${time}`;
  return h("time", { datetime: at.toISOString(), title: at.toLocaleString() }, shown);
}

// -- timing -------------------------------------------------------------------------------------
/** A throttled `work`: runs once per `gap` ms at most, never twice at a time, and again if it was called meanwhile. */
export function throttled(work, gap) {
  let busy = false;
  let again = false;
  return async function run() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      await work();
    } finally {
      setTimeout(() => {
        busy = false;
        if (again) {
          again = false;
          run();
        }
      }, gap);
    }
  };
}
