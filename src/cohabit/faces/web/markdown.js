// Markdown to elements: the part of Markdown that people use in notes. Everything else stays text; HTML is never parsed.

import { h } from "./dom.js";

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^(#{1,6}) +(.*?)(?: +#+)?\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)]) +(.*)$/;
const QUOTE = /^\s{0,3}> ?(.*)$/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const ROW = /^\s*\|(.*)\|\s*$/;
const DASHES = /^[\s|:-]+$/;
const COMMENT = /^\s*<!--.*-->\s*$/; // the tools of a workspace keep ids in comments
const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|~~(.+?)~~|\*(?!\s)(.+?)\*|\[([^\]]+)\]\(([^()\s]+)\)|<?(https?:\/\/[^\s<>()]+)>?/;
const MAX_LINE_LENGTH = 1_000; // longer lines stay text: matching a hostile line could block the browser
const MAX_PARAGRAPH_LINES = 500; // longer paragraphs are split
const MAX_DEPTH = 6; // of nested quotations and marks: a hostile text must not overflow the stack

/** The elements for a text. */
export function markdown(text, depth = 0) {
  const lines = text.replaceAll("\r\n", "\n").split("\n").filter((line) => !matches(COMMENT, line));
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
  if (matches(FENCE, line)) return fence(lines, i);
  const heading = matches(HEADING, line) && HEADING.exec(line);
  if (heading) return [h(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2])), i + 1];
  if (matches(RULE, line)) return [h("hr"), i + 1];
  if (matches(ROW, line)) return table(lines, i);
  if (matches(QUOTE, line) && depth < MAX_DEPTH) return quote(lines, i, depth);
  if (matches(ITEM, line)) return list(lines, i);
  return paragraph(lines, i);
}

function matches(pattern, line) {
  return line.length <= MAX_LINE_LENGTH && pattern.test(line);
}

/** The index after the last of consecutive lines that pass the test. */
function endOfRun(lines, start, test, maxLines = lines.length) {
  let end = start;
  while (end < Math.min(lines.length, start + maxLines) && test(lines[end])) end++;
  return end;
}

function fence(lines, i) {
  const mark = FENCE.exec(lines[i])[1];
  const end = endOfRun(lines, i + 1, (line) => !line.trim().startsWith(mark));
  return [h("pre", {}, h("code", {}, lines.slice(i + 1, end).join("\n"))), end + 1];
}

function quote(lines, i, depth) {
  const end = endOfRun(lines, i, (line) => matches(QUOTE, line));
  const text = lines.slice(i, end).map((line) => QUOTE.exec(line)[1]).join("\n");
  return [h("blockquote", {}, markdown(text, depth + 1)), end];
}

/** A list. Nested items are indented; an indented line without a marker belongs to the item above. */
function list(lines, i) {
  const ordered = /\d/.test(ITEM.exec(lines[i])[2]);
  const end = endOfRun(lines, i, (line) => matches(ITEM, line) || /^\s+\S/.test(line));
  const items = [];
  for (const [n, line] of lines.slice(i, end).entries()) {
    const item = matches(ITEM, line) && ITEM.exec(line);
    if (item) items.push(h("li", { "data-level": String(Math.min(4, Math.floor(item[1].length / 2))) }, task(item[3])));
    else items.at(-1)?.append(lineBreak(lines[i + n - 1]), ...inline(line.trim()));
  }
  return [h(ordered ? "ol" : "ul", {}, items), end];
}

function task(text) {
  const box = /^\[([ xX])\] +(.*)$/.exec(text);
  if (!box) return inline(text);
  return [h("input", { type: "checkbox", disabled: true, checked: box[1] !== " " }), " ", ...inline(box[2])];
}

function table(lines, i) {
  const end = endOfRun(lines, i, (line) => matches(ROW, line));
  const rows = lines.slice(i, end).map((line) => ROW.exec(line)[1]);
  const hasHeader = rows.length > 1 && DASHES.test(rows[1]);
  const cells = (row, tag) => h("tr", {}, row.split("|").map((cell) => h(tag, {}, inline(cell.trim()))));
  return [
    h("div", { class: "scroll-x", tabindex: "0" }, h("table", {},
      hasHeader && h("thead", {}, cells(rows[0], "th")),
      h("tbody", {}, rows.slice(hasHeader ? 2 : 0).map((row) => cells(row, "td"))))),
    end,
  ];
}

function paragraph(lines, i) {
  const startsBlock = (line) => !line.trim() || matches(FENCE, line) || matches(HEADING, line) || matches(QUOTE, line) || matches(ROW, line) || matches(ITEM, line);
  const end = Math.max(i + 1, endOfRun(lines, i, (line) => !startsBlock(line), MAX_PARAGRAPH_LINES));
  const content = lines.slice(i, end).flatMap((line, n) => [...(n ? [lineBreak(lines[i + n - 1])] : []), ...inline(line.trim())]);
  const made = h("p", {}, content);
  made.normalize(); // one text node instead of one per line: many of them are slow
  return [made, end];
}

/** What separates a line from the next one of its paragraph: a space, unless it ends with two spaces. */
function lineBreak(line) {
  return line.endsWith("  ") ? h("br") : "\n";
}

function inline(text, depth = 0) {
  const made = [];
  for (let rest = text; rest;) {
    const found = depth < MAX_DEPTH && text.length <= MAX_LINE_LENGTH ? INLINE.exec(rest) : null;
    if (!found) return [...made, rest];
    made.push(rest.slice(0, found.index), span(found, depth + 1));
    rest = rest.slice(found.index + found[0].length);
  }
  return made;
}

function span([whole, , code, strong, struck, emphasis, label, target, address], depth) {
  if (code !== undefined) return h("code", {}, code.trim() || code);
  if (strong !== undefined) return h("strong", {}, inline(strong, depth));
  if (struck !== undefined) return h("s", {}, inline(struck, depth));
  if (emphasis !== undefined) return h("em", {}, inline(emphasis, depth));
  if (address !== undefined) return link(address, [address]);
  if (/^https?:\/\//.test(target)) return link(target, inline(label, depth));
  return h("span", { title: target }, label); // a file of the board, or a scheme that must not be followed
}

function link(address, content) {
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow" }, content);
}
