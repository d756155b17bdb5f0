// The board of a workspace, read-only: the journal, the inbox, and files that can be opened.

import { gently, h, named, say } from "./dom.js";
import { markdown } from "./markdown.js";

const PICTURES = { png: "png", jpg: "jpeg", jpeg: "jpeg", gif: "gif", webp: "webp" };
const TITLES = { "": "Other files" };

export class Board {
  /** `ask(command, args)` is a call in this room. */
  constructor(ask) {
    this.ask = ask;
    this.path = null; // of the file that is open
    this.folded = new Map(); // what the reader opened and closed stays so
    this.about = h("p", { class: "muted", role: "status" }, "Looking at the board …");
    this.reader = h("article", { class: "reader", hidden: true, "aria-label": "The open file", tabindex: "-1" });
    this.journal = h("ol", { class: "journal" });
    this.inbox = h("div", { class: "inbox" });
    this.files = h("div", { class: "files" });
    this.element = h("div", { class: "board" }, this.about, this.reader,
      h("div", { class: "board-parts" },
        h("section", { "aria-labelledby": "board-inbox" }, h("h2", { id: "board-inbox" }, "Inbox"), this.inbox),
        h("section", { "aria-labelledby": "board-files" }, h("h2", { id: "board-files" }, "Files"), this.files),
        h("section", { class: "wide-part", "aria-labelledby": "board-journal" }, h("h2", { id: "board-journal" }, "Journal, newest first"), this.journal)));
    this.refresh = gently(() => this.fetch(), 500);
  }

  /** Asks again where the board has moved on. */
  see(status) {
    if (!status?.head || status.head === this.head) return;
    this.head = status.head;
    this.refresh();
  }

  async fetch() {
    try {
      this.draw(await this.ask("board"));
      if (this.path) await this.open(this.path, false);
    } catch (error) {
      this.head = null; // and once more at the next chance
      if (error.code !== "LOST") say(this.about, error.message);
    }
  }

  draw(board) {
    const drawn = JSON.stringify(board);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    say(this.about, `${count(board.entries, "journal entry", "journal entries")} · ${board.open_count} open, ${board.closed_count} closed · commit ${board.head.slice(0, 7) || "none"}`);
    this.journal.replaceChildren(...board.journal.map(entry));
    this.inbox.replaceChildren(...this.items(board));
    this.files.replaceChildren(...board.folders.map((folder) => this.folder(folder)),
      board.truncated ? h("p", { class: "muted" }, "There are more files than are shown here.") : "");
    if (!board.journal.length) this.journal.replaceChildren(h("li", { class: "muted" }, "Nobody has written anything yet."));
  }

  items({ open, open_count, closed, closed_count }) {
    return [
      open.length ? h("ul", {}, ...open.map(item)) : h("p", { class: "muted" }, "Nothing is open."),
      open_count > open.length && h("p", { class: "muted" }, `… and ${open_count - open.length} more`),
      closed.length > 0 && this.fold("closed", `${closed_count} closed`, false, h("ul", {}, ...closed.map(item))),
    ].filter(Boolean);
  }

  folder({ name, files }) {
    const list = h("ul", {}, ...files.map(({ path, size }) => {
      const short = name ? path.slice(name.length + 1) : path;
      return h("li", {},
        h("button", { class: "file", "data-path": path, "aria-current": String(path === this.path), onclick: () => this.open(path, true) }, short),
        h("span", { class: "muted" }, bytes(size)));
    }));
    return this.fold(`folder ${name}`, `${TITLES[name] ?? name} (${files.length})`, name !== "", list);
  }

  fold(key, title, opened, ...inside) {
    const made = h("details", { open: this.folded.get(key) ?? opened }, h("summary", {}, title), ...inside);
    made.addEventListener("toggle", () => this.folded.set(key, made.open));
    return made;
  }

  // -- the open file -----------------------------------------------------------------------------
  async open(path, asked) {
    this.path = path;
    let file;
    try {
      file = await this.ask("board_read", { path });
    } catch (error) {
      if (error.code === "LOST") return;
      file = { content: "", problem: error.message };
    }
    if (this.path !== path) return; // meanwhile another one was opened
    this.show(path, file);
    if (asked) this.reader.focus();
  }

  show(path, file) {
    const drawn = JSON.stringify([path, file]);
    if (drawn === this.shown && !this.reader.hidden) return;
    this.shown = drawn;
    this.mark();
    this.reader.hidden = false;
    const body = h("div", { class: "page" }, ...content(path, file));
    this.reader.replaceChildren(
      h("header", {}, h("h2", {}, path), h("button", { class: "quiet", onclick: () => this.close() }, "Close")),
      body,
      ...(file.truncated ? [this.more(path, file, body)] : []));
  }

  more(path, file, body) {
    const button = h("button", { onclick: async () => {
      button.disabled = true;
      try {
        const next = await this.ask("board_read", { path, offset: file.next_offset });
        this.show(path, { ...next, content: file.content + next.content });
      } catch (error) {
        button.disabled = false;
        if (error.code !== "LOST") say(body, error.message);
      }
    } }, "Read on");
    return file.encoding ? h("p", { class: "muted" }, "Only its beginning fits here.") : button;
  }

  close() {
    const last = this.path;
    this.path = this.shown = null;
    this.reader.hidden = true;
    this.mark();
    this.buttons().find((button) => button.dataset.path === last)?.focus();
  }

  /** Which of the files is the open one. */
  mark() {
    for (const button of this.buttons()) button.setAttribute("aria-current", String(button.dataset.path === this.path));
  }

  buttons() {
    return [...this.files.querySelectorAll(".file")];
  }
}

function entry({ at, agent_id, agent_name, summary, details, todos }) {
  return h("li", {},
    h("p", { class: "by" }, named(agent_id), h("span", { class: "muted" }, agent_name === agent_id ? at : `${agent_name} · ${at}`)),
    ...markdown(summary),
    details && h("details", {}, h("summary", {}, "More"), ...markdown(details)),
    todos.length > 0 && h("ul", { class: "todos" }, ...todos.map((todo) =>
      h("li", {}, h("span", { class: "badge soft" }, `@${todo.for}`), " ", todo.text))));
}

function item({ id, target, title, body, added_at, added_by, claimed_by, closed_at, closed_by, resolution }) {
  const done = closed_by !== undefined;
  return h("li", { class: "item", "data-done": String(done) },
    h("p", {}, h("span", { class: "id" }, id), " ", done ? h("s", {}, title) : h("strong", {}, title)),
    h("p", { class: "muted" }, target && h("span", { class: "badge soft" }, `@${target}`),
      claimed_by && !done && h("span", { class: "badge busy" }, `${claimed_by} is at it`),
      done ? ` closed ${closed_at} by ${closed_by || "somebody"}` : ` ${added_at} by ${added_by}`),
    done && resolution && h("p", {}, resolution),
    body && !done && h("div", { class: "body" }, ...markdown(body)));
}

function content(path, { content: text, encoding, truncated, problem, size }) {
  const kind = path.split(".").at(-1).toLowerCase();
  if (problem) return [h("p", { class: "error" }, problem)];
  if (encoding !== "base64") return kind === "md" ? markdown(text) : [h("pre", {}, text)];
  if (PICTURES[kind] && !truncated) return [h("img", { src: `data:image/${PICTURES[kind]};base64,${text}`, alt: path })];
  return [h("p", { class: "muted" }, `${bytes(size)} of something that is not text; a clone has it.`)];
}

function bytes(size) {
  return size < 1000 ? `${size} B` : size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

function count(n, one, many) {
  return n === 1 ? `1 ${one}` : `${n} ${many}`;
}
