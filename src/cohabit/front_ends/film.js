// A film in memory (`model/film.py`): frames are changes, and any of them is restored from a whole one before it.

const WHOLE_EVERY = 32; // frames between two that are kept whole
const MAX_PARTS = 60; // of a film in time: those that are far away are loaded again when they are needed
const [NEAR, NEAR_MS] = [100, 10_000]; // so much is loaded rather than left out as a gap

/**
 * A value changed by a JSON merge patch (RFC 7396). What has not changed is shared with the value before. `own`: objects
 * that nobody else has, so they are changed in place; those that are made are added to it.
 */
function merged(value, patch, own) {
  if (!isObject(patch)) return patch;
  let result = value;
  if (!isObject(value) || !own.has(value)) own.add((result = isObject(value) ? { ...value } : {}));
  for (const name of Object.keys(patch)) {
    const change = patch[name];
    if (change === null) delete result[name];
    else put(result, name, merged(Object.hasOwn(result, name) ? result[name] : undefined, change, own));
  }
  return result;
}

function put(object, name, value) {
  if (name === "__proto__") Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** The index of the last of these, in the order of their `seq`, that is not after an entry; -1: all are after it. */
export function lastUntil(items, seq) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].seq <= seq) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Consecutive frames, the first of which is whole: what was seen from the position `first` to `last`. */
class Part {
  #whole = new Map(); // by the index of a frame: what is seen after it
  #recent = null; // what was asked for: the next one is one change away

  constructor(frames, first, last) {
    Object.assign(this, { frames, first, last });
  }

  /** What is seen after the frame with this index. */
  at(index) {
    let known = index - (index % WHOLE_EVERY);
    while (known > 0 && !this.#whole.has(known)) known -= WHOLE_EVERY;
    let seen = this.#whole.get(known) ?? null;
    if (this.#recent?.index <= index && this.#recent.index >= known) seen = this.#recent;
    let own = new Set();
    for (let i = seen ? seen.index + 1 : 0; i <= index; i += 1) {
      seen = after(this.frames[i], i, seen, own);
      if (i % WHOLE_EVERY === 0) {
        this.#whole.set(i, seen);
        own = new Set(); // what is kept does not change any more
      }
    }
    this.#recent = seen;
    return seen;
  }
}

/** What is seen after a frame: the view, and the layers of the scene. `before`: after the one before it. */
function after({ seq, at, game = 1, view, scene, whole = false }, index, before, own) {
  let layers = whole ? {} : before?.scene ?? {};
  if (scene) {
    if (!own.has(layers)) own.add((layers = { ...layers }));
    for (const [name, layer] of Object.entries(scene)) {
      if (layer === null) delete layers[name];
      else put(layers, name, layer);
    }
  }
  const now = whole ? view : view ? merged(before?.view, view, own) : before?.view;
  return { index, seq, at, game, view: now ?? {}, scene: layers };
}

/**
 * All that is loaded of a film. Positions are numbers of entries. `inTime`: they are times, the first page is an overview
 * of the film, which may be extended, and the pages after it are parts of it in detail, with gaps where nobody has looked.
 */
export class Reel {
  #parts = []; // in the order of the film
  #overview = null;

  constructor(film, { inTime = false } = {}) {
    this.inTime = inTime;
    this.near = inTime ? NEAR_MS : NEAR;
    this.events = [];
    this.decisions = [];
    this.first = this.last = inTime ? film.frames[0].at : film.first || film.frames[0].seq;
    this.add(film, this.first);
    if (inTime) this.#overview = this.#parts.pop();
  }

  /** Add a page of the film, with all that was seen from one position to another. */
  add(film, from, to = 0) {
    const frames = this.#placed(film.frames);
    to = Math.max(to, frames.at(-1)?.seq ?? from);
    this.last = Math.max(this.last, to, this.inTime ? 0 : film.last ?? 0);
    this.live = film.live ?? false;
    this.events = together(this.events, this.#placed(film.events ?? []));
    this.decisions = together(this.decisions, this.#placed(film.decisions ?? []));
    const before = this.#covering(from - 1);
    if (frames.length) {
      this.#parts = this.#parts.filter((part) => part.first !== from); // it has grown
      this.#parts.push(new Part(frames, from, to));
    } else if (before) before.last = Math.max(before.last, to); // nothing else was seen
    if (this.inTime && this.#parts.length > MAX_PARTS) {
      const distance = (part) => Math.abs(part.first - from);
      const farthest = this.#parts.reduce((one, other) => (distance(other) > distance(one) ? other : one));
      this.#parts = this.#parts.filter((part) => part !== farthest);
    }
    this.#parts.sort((one, other) => one.first - other.first);
  }

  /** Add to the overview what comes after it. */
  extend(film, to) {
    const frames = this.#placed(film.frames);
    this.#overview.frames.push(...frames);
    this.#overview.last = this.last = Math.max(this.last, to);
    this.live = film.live ?? false;
    this.events = together(this.events, this.#placed(film.events ?? []));
    this.decisions = together(this.decisions, this.#placed(film.decisions ?? []));
  }

  /** The position from which to load, so that it can be shown what was seen at this one; null: it is loaded. */
  missing(seq) {
    if (this.#covering(seq)) return null;
    const before = this.#parts.findLast((part) => part.last < seq);
    return before && seq <= before.last + this.near ? before.last + 1 : Math.max(this.first, seq - this.near);
  }

  /** What was seen at a position, as far as it is loaded. */
  at(seq) {
    let part = this.#nearest(seq);
    let index = lastUntil(part.frames, seq);
    const before = index < 0 && this.#covering(part.first - 1);
    if (before) [part, index] = [before, before.frames.length - 1];
    return part.at(Math.max(index, 0));
  }

  /** The position of the frame after (1) or before (-1) the one that is shown at a position. */
  step(seq, direction) {
    const part = this.#nearest(seq);
    const frame = part.frames[lastUntil(part.frames, seq) + direction];
    if (frame) return frame.seq;
    if (direction < 0) return Math.max(this.first, this.#covering(part.first - 1)?.frames.at(-1).seq ?? part.first - 1);
    const after = Math.max(seq, part.last) + 1;
    return Math.min(this.last, this.#covering(after)?.frames[0].seq ?? after);
  }

  /** The time of the first frame that is known. */
  get began() {
    return (this.#overview ?? this.#parts[0]).frames[0].at;
  }

  /** How long the frames that were loaded first last in the time of the room, in ms: in the mean, and together. */
  get pace() {
    const { frames } = this.#overview ?? this.#parts[0];
    const span = frames.at(-1).at - frames[0].at;
    return { span, gap: span / Math.max(1, frames.length - 1) };
  }

  /** The parts that are loaded, as [first, last]. */
  get loaded() {
    return this.#parts.map(({ first, last }) => [first, last]);
  }

  /** With their positions: pages in time number their frames each for itself. */
  #placed(items) {
    return this.inTime ? items.map((item) => ({ ...item, seq: item.at })) : items;
  }

  #covering(seq) {
    return this.#parts.findLast((part) => part.first <= seq && seq <= part.last);
  }

  #nearest(seq) {
    return this.#covering(seq) ?? this.#overview ?? this.#parts.findLast((part) => part.first <= seq) ?? this.#parts[0];
  }
}

/** Lines of the story of two pages, in order and each once. */
function together(known, more) {
  const keys = new Set(known.map((item) => JSON.stringify(item)));
  const fresh = more.filter((item) => !keys.has(JSON.stringify(item)));
  return fresh.length ? [...known, ...fresh].sort((one, other) => one.seq - other.seq) : known;
}
