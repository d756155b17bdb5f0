// The board of a workspace, read-only: the journal, the inbox, and files that can be opened.

import { gently, h, named, say, visible } from "./dom.js";
import { markdown } from "./markdown.js";

const PICTURES = { png: "png", jpg: "jpeg", jpeg: "jpeg", gif: "gif", webp: "webp" };

export class Board {
  /** `ask(command, args)` is a call in this room. */
  constructor(ask) {
    this.ask = ask;
    this.path = null; // of the file that is open
    this.file = null; // as much of it as was read
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
      if (this.path) await this.reread();
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
    this.journal.replaceChildren(...board.journal.map(entry), ...this.others("li", board.entries - board.journal.length, "journal.md"));
    this.inbox.replaceChildren(...this.items(board));
    this.files.replaceChildren(...board.folders.map((folder) => this.folder(folder)),
      board.truncated ? h("p", { class: "muted" }, "There are more files than are shown here; a clone has them all.") : "");
    if (!board.entries) this.journal.replaceChildren(h("li", { class: "muted" }, "Nobody has written anything yet."));
  }

  /** How many are not shown, and the file that has them. */
  others(tag, n, path) {
    return n > 0 ? [h(tag, { class: "muted" }, `… and ${n} more in `, this.link(path, path))] : [];
  }

  items({ open, open_count, closed, closed_count }) {
    return [
      open.length ? h("ul", {}, open.map(item)) : h("p", { class: "muted" }, "Nothing is open."),
      ...this.others("p", open_count - open.length, "inbox.md"),
      ...(closed.length ? [this.fold("closed", `${closed_count} closed`, false,
        h("ul", {}, closed.map(item)), this.others("p", closed_count - closed.length, "inbox.md"))] : []),
    ];
  }

  folder({ name, files, count }) {
    const list = h("ul", {},
      files.map(({ path, size }) =>
        h("li", {}, this.link(path, name ? path.slice(name.length + 1) : path), h("span", { class: "muted" }, bytes(size)))),
      count > files.length && h("li", { class: "muted" }, `… and ${count - files.length} more`));
    return this.fold(`folder ${name}`, `${visible(name) || "Other files"} (${count})`, name !== "", list);
  }

  link(path, name) {
    const open = () => this.open(path);
    return h("button", { class: "file", "data-path": path, "aria-current": String(path === this.path), onclick: open }, visible(name));
  }

  fold(key, title, opened, ...inside) {
    const made = h("details", { open: this.folded.get(key) ?? opened }, h("summary", {}, title), ...inside);
    made.addEventListener("toggle", () => this.folded.set(key, made.open));
    return made;
  }

  // -- the open file -----------------------------------------------------------------------------
  async open(path) {
    if (path !== this.path) this.file = null;
    this.path = path;
    try {
      await this.reread();
    } catch (error) {
      if (error.code === "LOST") return;
      throw error;
    }
    if (this.path === path) this.reader.focus();
  }

  /** The open file as it is now, as far as it was read; who reads on stays where it is. */
  async reread() {
    const { path, file } = this;
    const found = await this.pieces(path, file?.pieces ?? 1);
    if (this.path !== path) return; // meanwhile another one was opened
    if (this.file !== file) await this.reread(); // or the reader read on
    else if (JSON.stringify(found) !== JSON.stringify(file)) this.show(path, found);
  }

  async pieces(path, most) {
    try {
      let file = { ...await this.ask("board_read", { path }), pieces: 1 };
      while (file.pieces < most && file.truncated && !file.encoding) file = await this.longer(path, file);
      return file;
    } catch (error) {
      if (error.code === "LOST") throw error;
      return { content: "", problem: error.message, pieces: most };
    }
  }

  async longer(path, file) {
    const next = await this.ask("board_read", { path, offset: file.next_offset });
    return { ...next, content: file.content + next.content, pieces: file.pieces + 1 };
  }

  show(path, file) {
    const top = this.file ? this.reader.querySelector(".page").scrollTop : 0;
    this.file = file;
    this.mark();
    this.reader.hidden = false;
    const body = h("div", { class: "page" }, content(path, file));
    this.reader.replaceChildren(
      h("header", {}, h("h2", {}, visible(path)), h("button", { class: "quiet", onclick: () => this.close() }, "Close")),
      body,
      ...(file.truncated ? [this.more(path, file)] : []));
    body.scrollTop = top;
  }

  more(path, file) {
    const button = h("button", { onclick: async () => {
      button.disabled = true;
      try {
        const longer = await this.longer(path, file);
        if (this.file !== file) return; // it changed, or was closed
        this.show(path, longer);
        (this.reader.querySelector(":scope > button") ?? this.reader).focus({ preventScroll: true });
      } catch (error) {
        button.disabled = false;
        if (error.code !== "LOST") say(this.about, error.message);
      }
    } }, "Read on");
    return file.encoding ? h("p", { class: "muted" }, "Only its beginning fits here.") : button;
  }

  close() {
    const last = this.path;
    this.path = this.file = null;
    this.reader.hidden = true;
    this.mark();
    this.buttons().find((button) => button.dataset.path === last && !button.closest("details:not([open])"))?.focus();
  }

  /** Which of the files is the open one. */
  mark() {
    for (const button of this.buttons()) button.setAttribute("aria-current", String(button.dataset.path === this.path));
  }

  buttons() {
    return [...this.element.querySelectorAll(".file")];
  }
}

function entry({ at, agent_id, agent_name, summary, details, todos, more_todos }) {
  return h("li", {},
    h("p", { class: "by" }, named(agent_id), h("span", { class: "muted" }, agent_name === agent_id ? at : `${visible(agent_name)} · ${at}`)),
    markdown(summary),
    details && h("details", {}, h("summary", {}, "More"), markdown(details)),
    todos.length > 0 && h("ul", { class: "todos" },
      todos.map((todo) => h("li", {}, h("span", { class: "badge soft" }, `@${visible(todo.for)}`), " ", todo.text)),
      more_todos && h("li", { class: "muted" }, `… and ${more_todos} more`)));
}

function item({ id, target, title, body, added_at, added_by, claimed_by, closed_at, closed_by, resolution }) {
  const done = closed_by !== undefined;
  return h("li", { class: "item", "data-done": String(done) },
    h("p", {}, h("span", { class: "id" }, id), " ", done ? h("s", {}, title) : h("strong", {}, title)),
    h("p", { class: "muted" }, target && h("span", { class: "badge soft" }, `@${visible(target)}`),
      claimed_by && !done && h("span", { class: "badge busy" }, `${visible(claimed_by)} is at it`),
      done ? ` closed ${closed_at} by ${visible(closed_by) || "somebody"}` : added_by && ` ${added_at} by ${visible(added_by)}`),
    done && resolution && h("p", {}, resolution),
    body && !done && h("div", { class: "body" }, markdown(body)));
}

function content(path, { content: text, encoding, truncated, problem, size }) {
  const kind = path.split(".").at(-1).toLowerCase();
  if (problem) return [h("p", { class: "error" }, problem)];
  if (encoding !== "base64") return kind === "md" ? markdown(text) : [h("pre", {}, text)];
  if (Object.hasOwn(PICTURES, kind) && !truncated) return [h("img", { src: `data:image/${PICTURES[kind]};base64,${text}`, alt: visible(path) })];
  return [h("p", { class: "muted" }, `${bytes(size)} of something that is not text; a clone has it.`)];
}

function bytes(size) {
  return size < 1000 ? `${size} B` : size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

function count(n, one, many) {
  return n === 1 ? `1 ${one}` : `${n} ${many}`;
}
