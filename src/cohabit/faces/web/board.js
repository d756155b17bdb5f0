// The board of a workspace, read-only: journal, inbox and files.

import { escapeInvisible, h, memberName, setText, throttled } from "./dom.js";
import { markdown } from "./markdown.js";

const IMAGE_TYPES = { png: "png", jpg: "jpeg", jpeg: "jpeg", gif: "gif", webp: "webp" };

export class Board {
  /** `call(command, args)` is a call in this room. */
  constructor(call) {
    this.call = call;
    this.path = null; // of the open file
    this.file = null; // as much of the open file as was loaded
    this.toggled = new Map(); // which parts the user expanded or collapsed, so that a redraw keeps them
    this.status = h("p", { class: "muted", role: "status" }, "Loading the board …");
    this.reader = h("article", { class: "reader", hidden: true, "aria-label": "Open file", tabindex: "-1" });
    this.journal = h("ol", { class: "journal" });
    this.inbox = h("div", { class: "inbox" });
    this.files = h("div", { class: "files" });
    this.element = h("div", { class: "board" }, this.status, this.reader,
      h("div", { class: "board-parts" },
        h("section", { "aria-labelledby": "board-inbox" }, h("h2", { id: "board-inbox" }, "Inbox"), this.inbox),
        h("section", { "aria-labelledby": "board-files" }, h("h2", { id: "board-files" }, "Files"), this.files),
        h("section", { class: "wide-part", "aria-labelledby": "board-journal" }, h("h2", { id: "board-journal" }, "Journal, newest first"), this.journal)));
    this.refresh = throttled(() => this.fetch(), 500);
  }

  /** `status`: of the newest view. Loads the board again if it has a new commit. */
  update(status) {
    if (!status?.head || status.head === this.head) return;
    this.head = status.head;
    this.refresh();
  }

  async fetch() {
    try {
      this.draw(await this.call("board"));
      if (this.path) await this.reload();
    } catch (error) {
      this.head = null; // the next update tries again
      if (error.code !== "LOST") setText(this.status, error.message);
    }
  }

  draw(board) {
    const drawn = JSON.stringify(board);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    setText(this.status, `${plural(board.entries, "journal entry", "journal entries")} · ${board.open_count} open, ${board.closed_count} closed · commit ${board.head.slice(0, 7) || "none"}`);
    this.journal.replaceChildren(...board.journal.map(journalEntry), ...this.remaining("li", board.entries - board.journal.length, "journal.md"));
    this.inbox.replaceChildren(...this.items(board));
    this.files.replaceChildren(...board.folders.map((folder) => this.folder(folder)),
      board.truncated ? h("p", { class: "muted" }, "Not all files are listed. Clone the repository to see the rest.") : "");
    if (!board.entries) this.journal.replaceChildren(h("li", { class: "muted" }, "The journal is empty."));
  }

  /** How many entries are not shown, with a link to the file that has all of them. */
  remaining(tag, n, path) {
    return n > 0 ? [h(tag, { class: "muted" }, `… and ${n} more in `, this.fileButton(path, path))] : [];
  }

  items({ open, open_count, closed, closed_count }) {
    return [
      open.length ? h("ul", {}, open.map(inboxItem)) : h("p", { class: "muted" }, "No open items."),
      ...this.remaining("p", open_count - open.length, "inbox.md"),
      ...(closed.length ? [this.collapsible("closed", `${closed_count} closed`, false,
        h("ul", {}, closed.map(inboxItem)), this.remaining("p", closed_count - closed.length, "inbox.md"))] : []),
    ];
  }

  folder({ name, files, count }) {
    const list = h("ul", {},
      files.map(({ path, size }) =>
        h("li", {}, this.fileButton(path, name ? path.slice(name.length + 1) : path), h("span", { class: "muted" }, formatSize(size)))),
      count > files.length && h("li", { class: "muted" }, `… and ${count - files.length} more`));
    return this.collapsible(`folder ${name}`, `${escapeInvisible(name) || "Other files"} (${count})`, name !== "", list);
  }

  fileButton(path, name) {
    const open = () => this.open(path);
    return h("button", { class: "file", "data-path": path, "aria-current": String(path === this.path), onclick: open }, escapeInvisible(name));
  }

  collapsible(key, title, open, ...content) {
    const details = h("details", { open: this.toggled.get(key) ?? open }, h("summary", {}, title), ...content);
    details.addEventListener("toggle", () => this.toggled.set(key, details.open));
    return details;
  }

  // -- the open file -----------------------------------------------------------------------------
  async open(path) {
    if (path !== this.path) this.file = null;
    this.path = path;
    try {
      await this.reload();
    } catch (error) {
      if (error.code === "LOST") return;
      throw error;
    }
    if (this.path === path) this.reader.focus();
  }

  /** Load the open file again, as many pages of it as are shown, and keep the scroll position. */
  async reload() {
    const { path, file } = this;
    const loaded = await this.load(path, file?.pages ?? 1);
    if (this.path !== path) return; // another file was opened meanwhile
    if (this.file !== file) await this.reload(); // more pages were loaded meanwhile
    else if (JSON.stringify(loaded) !== JSON.stringify(file)) this.show(path, loaded);
  }

  async load(path, pages) {
    try {
      let file = { ...await this.call("board_read", { path }), pages: 1 };
      while (file.pages < pages && file.truncated && !file.encoding) file = await this.loadNextPage(path, file);
      return file;
    } catch (error) {
      if (error.code === "LOST") throw error;
      return { content: "", problem: error.message, pages };
    }
  }

  async loadNextPage(path, file) {
    const next = await this.call("board_read", { path, offset: file.next_offset });
    return { ...next, content: file.content + next.content, pages: file.pages + 1 };
  }

  show(path, file) {
    const scrollTop = this.file ? this.reader.querySelector(".page").scrollTop : 0;
    this.file = file;
    this.markOpenFile();
    this.reader.hidden = false;
    const body = h("div", { class: "page" }, fileContent(path, file));
    this.reader.replaceChildren(
      h("header", {}, h("h2", {}, escapeInvisible(path)), h("button", { class: "quiet", onclick: () => this.close() }, "Close")),
      body,
      ...(file.truncated ? [this.moreButton(path, file)] : []));
    body.scrollTop = scrollTop;
  }

  moreButton(path, file) {
    if (file.encoding) return h("p", { class: "muted" }, "Only the beginning of this file is shown.");
    const button = h("button", { onclick: async () => {
      button.disabled = true;
      try {
        const longer = await this.loadNextPage(path, file);
        if (this.file !== file) return; // it changed or was closed meanwhile
        this.show(path, longer);
        (this.reader.querySelector(":scope > button") ?? this.reader).focus({ preventScroll: true });
      } catch (error) {
        button.disabled = false;
        if (error.code !== "LOST") setText(this.status, error.message);
      }
    } }, "Load more");
    return button;
  }

  close() {
    const closed = this.path;
    this.path = this.file = null;
    this.reader.hidden = true;
    this.markOpenFile();
    this.fileButtons().find((button) => button.dataset.path === closed && !button.closest("details:not([open])"))?.focus();
  }

  markOpenFile() {
    for (const button of this.fileButtons()) button.setAttribute("aria-current", String(button.dataset.path === this.path));
  }

  fileButtons() {
    return [...this.element.querySelectorAll(".file")];
  }
}

function journalEntry({ at, agent_id, agent_name, summary, details, todos, more_todos, ...proof }) {
  return h("li", {},
    h("p", { class: "by" }, memberName(agent_id), h("span", { class: "muted" }, agent_name === agent_id ? at : `${escapeInvisible(agent_name)} · ${at}`), unverified(proof)),
    markdown(summary),
    details && h("details", {}, h("summary", {}, "Details"), markdown(details)),
    todos.length > 0 && h("ul", { class: "todos" },
      todos.map((todo) => h("li", {}, h("span", { class: "badge soft" }, `@${escapeInvisible(todo.for)}`), " ", todo.text)),
      more_todos && h("li", { class: "muted" }, `… and ${more_todos} more`)));
}

function unverified({ verified, committed_by }) {
  return verified === false && h("span", { class: "badge" }, `not verified: committed by ${escapeInvisible(committed_by)}`);
}

function inboxItem({ id, target, title, body, added_at, added_by, claimed_by, closed_at, closed_by, resolution, ...proof }) {
  const closed = closed_by !== undefined;
  return h("li", { class: "item", "data-closed": String(closed) },
    h("p", {}, h("span", { class: "id" }, id), " ", closed ? h("s", {}, title) : h("strong", {}, title)),
    h("p", { class: "muted" }, target && h("span", { class: "badge soft" }, `@${escapeInvisible(target)}`),
      claimed_by && !closed && h("span", { class: "badge claimed" }, `claimed by ${escapeInvisible(claimed_by)}`),
      closed ? ` closed ${closed_at} by ${escapeInvisible(closed_by) || "unknown"}` : added_by && ` ${added_at} by ${escapeInvisible(added_by)}`, unverified(proof)),
    closed && resolution && h("p", {}, resolution),
    body && !closed && h("div", { class: "body" }, markdown(body)));
}

function fileContent(path, { content: text, encoding, truncated, problem, size }) {
  const extension = path.split(".").at(-1).toLowerCase();
  if (problem) return [h("p", { class: "error" }, problem)];
  if (encoding !== "base64") return extension === "md" ? markdown(text) : [h("pre", {}, text)];
  if (Object.hasOwn(IMAGE_TYPES, extension) && !truncated) return [h("img", { src: `data:image/${IMAGE_TYPES[extension]};base64,${text}`, alt: escapeInvisible(path) })];
  return [h("p", { class: "muted" }, `This is a binary file (${formatSize(size)}). Clone the repository to open it.`)];
}

function formatSize(size) {
  return size < 1000 ? `${size} B` : size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

function plural(n, one, many) {
  return n === 1 ? `1 ${one}` : `${n} ${many}`;
}
