// Markdown as elements: the part of it that people write in notes. What is not understood stays text, and text is all
// that data ever becomes here.

import { h } from "./dom.js";

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^(#{1,6}) +(.*?)(?: +#+)?\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)]) +(.*)$/;
const QUOTE = /^\s{0,3}> ?(.*)$/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const ROW = /^\s*\|(.*)\|\s*$/;
const DASHES = /^[\s|:-]+$/;
const HIDDEN = /^\s*<!--.*-->\s*$/; // ids that the tools keep in comments
const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|~~(.+?)~~|\*(?!\s)(.+?)\*|\[([^\]]+)\]\(([^()\s]+)\)|<?(https?:\/\/[^\s<>()]+)>?/;
const LONGEST = 1_000; // characters of a line that is looked at: a hostile line must not keep a browser busy
const MOST = 500; // lines of one paragraph: the rest of a longer one becomes the next
const DEEPEST = 6; // of quotes in quotes: a hostile text must not make us go down for ever

/** The elements that a text stands for. */
export function markdown(text, depth = 0) {
  const lines = text.replaceAll("\r\n", "\n").split("\n").filter((line) => !is(HIDDEN, line));
  const made = [];
  for (let i = 0; i < lines.length;) {
    const [element, next] = block(lines, i, depth);
    if (element) made.push(element);
    i = next;
  }
  return made;
}

function block(lines, i, depth) {
  const line = lines[i];
  if (!line.trim()) return [null, i + 1];
  if (is(FENCE, line)) return fence(lines, i);
  const heading = is(HEADING, line) && HEADING.exec(line);
  if (heading) return [h(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2])), i + 1];
  if (is(RULE, line)) return [h("hr"), i + 1];
  if (is(ROW, line)) return table(lines, i);
  if (is(QUOTE, line) && depth < DEEPEST) return quote(lines, i, depth);
  if (is(ITEM, line)) return list(lines, i);
  return paragraph(lines, i);
}

function is(pattern, line) {
  return line.length <= LONGEST && pattern.test(line);
}

function run(lines, i, test, most = lines.length) {
  let end = i;
  while (end < Math.min(lines.length, i + most) && test(lines[end])) end++;
  return end;
}

function fence(lines, i) {
  const mark = FENCE.exec(lines[i])[1];
  const end = run(lines, i + 1, (line) => !line.trim().startsWith(mark));
  return [h("pre", {}, h("code", {}, lines.slice(i + 1, end).join("\n"))), end + 1];
}

function quote(lines, i, depth) {
  const end = run(lines, i, (line) => is(QUOTE, line));
  const inside = lines.slice(i, end).map((line) => QUOTE.exec(line)[1]).join("\n");
  return [h("blockquote", {}, markdown(inside, depth + 1)), end];
}

/** One list; an item that stands further in is shown further in, and a line below an item belongs to it. */
function list(lines, i) {
  const ordered = /\d/.test(ITEM.exec(lines[i])[2]);
  const end = run(lines, i, (line) => is(ITEM, line) || /^\s+\S/.test(line));
  const items = [];
  for (const line of lines.slice(i, end)) {
    const item = is(ITEM, line) && ITEM.exec(line);
    if (item) items.push(h("li", { "data-in": String(Math.min(4, Math.floor(item[1].length / 2))) }, task(item[3])));
    else items.at(-1)?.append(h("br"), ...inline(line.trim()));
  }
  return [h(ordered ? "ol" : "ul", {}, items), end];
}

function task(text) {
  const box = /^\[([ xX])\] +(.*)$/.exec(text);
  if (!box) return inline(text);
  return [h("input", { type: "checkbox", disabled: true, checked: box[1] !== " " }), " ", ...inline(box[2])];
}

function table(lines, i) {
  const end = run(lines, i, (line) => is(ROW, line));
  const rows = lines.slice(i, end).map((line) => ROW.exec(line)[1]);
  const headed = rows.length > 1 && DASHES.test(rows[1]);
  const cells = (row, tag) => h("tr", {}, row.split("|").map((cell) => h(tag, {}, inline(cell.trim()))));
  return [
    h("div", { class: "wide", tabindex: "0" }, h("table", {},
      headed && h("thead", {}, cells(rows[0], "th")),
      h("tbody", {}, rows.slice(headed ? 2 : 0).map((row) => cells(row, "td"))))),
    end,
  ];
}

function paragraph(lines, i) {
  const begins = (line) => !line.trim() || is(FENCE, line) || is(HEADING, line) || is(QUOTE, line) || is(ROW, line) || is(ITEM, line);
  const end = Math.max(i + 1, run(lines, i, (line) => !begins(line), MOST));
  const said = lines.slice(i, end).flatMap((line, n) => [...(n ? [lines[i + n - 1].endsWith("  ") ? h("br") : "\n"] : []), ...inline(line.trim())]);
  const made = h("p", {}, said);
  made.normalize(); // lines without marks are one text: very many small ones are slow
  return [made, end];
}

function inline(text, depth = 0) {
  const made = [];
  for (let rest = text; rest;) {
    const found = depth < DEEPEST && text.length <= LONGEST ? INLINE.exec(rest) : null;
    if (!found) return [...made, rest];
    made.push(rest.slice(0, found.index), span(found, depth + 1));
    rest = rest.slice(found.index + found[0].length);
  }
  return made;
}

function span([whole, , code, strong, struck, soft, label, target, address], depth) {
  if (code !== undefined) return h("code", {}, code.trim() || code);
  if (strong !== undefined) return h("strong", {}, inline(strong, depth));
  if (struck !== undefined) return h("s", {}, inline(struck, depth));
  if (soft !== undefined) return h("em", {}, inline(soft, depth));
  if (address !== undefined) return link(address, [address]);
  if (/^https?:\/\//.test(target)) return link(target, inline(label, depth));
  return h("span", { title: target }, label); // a file of the board, or something that a browser must not follow
}

function link(address, words) {
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow" }, words);
}
