// Where the parts of a room are: a line above the board, the board, the bar with what one can do, and the panels beside it.

import { h } from "./dom.js";

/** Give a room screen its elements. `screen.headline` belongs into the header of the page. */
export function layOut(screen) {
  const { drawers, manage } = screen;
  screen.title = h("h1", { tabindex: "-1" }, screen.room);
  screen.turn = h("p", { class: "turn", role: "status", tabindex: "-1" });
  screen.headline = h("div", { class: "headline" }, screen.title, screen.turn, screen.countdown.element, screen.you.summary, screen.keys.button);

  screen.notice = h("p", { class: "notice", hidden: true }); // who can see what players see
  screen.lounge = h("p", { class: "lounge", hidden: true });
  screen.plain = h("div", { class: "plain" }, screen.lounge, screen.world.element, screen.boardPlace, screen.app.element);
  screen.formsButton = h("button", { type: "button", hidden: true, onclick: () => drawers.open("actions") });
  const host = h("div", { class: "host-bar", role: "group", "aria-label": "Manage this room" }, screen.time.element, manage.bar, manage.result);
  screen.element = h("div", { class: "room-grid", "aria-busy": "true" },
    screen.notice,
    h("section", { class: "world", "aria-label": "The world" }, screen.frontEnd.element, screen.plain),
    h("section", { class: "actions", "aria-label": "What you can do" },
      h("div", { class: "actions-line" }, screen.choices.title, screen.choices.result, screen.ending.element, screen.formsButton, screen.spectate.element, manage.requests.asking),
      screen.choices.offer, screen.keys.pad),
    h("aside", { class: "side", "aria-label": "Story and panels" },
      drawers.bar, host,
      h("div", { class: "asks" }, manage.requests.element, screen.notes.element),
      drawers.element),
    screen.keys.sheet);
  screen.story.append(screen.events.element, screen.message.element);
  addPanels(screen);
  drawers.bar.append(h("a", { href: `?room=${encodeURIComponent(screen.room)}&at=0` }, "Watch again"));
}

function addPanels(screen) {
  const { drawers } = screen;
  screen.subtitle = h("p", { class: "muted" });
  screen.description = h("div", { class: "prose" });
  screen.aloneLink = h("a", { class: "alone-link", hidden: true, href: `?room=${encodeURIComponent(screen.room)}&view=table` }, "Show the table alone");
  screen.text = h("div", { class: "text-for-models" });
  drawers.add({ id: "actions", title: "Actions", element: screen.forms.element, shown: () => screen.forms.hasAny });
  drawers.add({ id: "body", title: "Body", element: screen.body.element, shown: () => screen.body.offered.length > 0 });
  drawers.add({ id: "members", title: "Members", element: screen.roster.element });
  drawers.add({ id: "scores", title: "Scores", element: screen.standings.element, shown: () => screen.standings.hasAny });
  drawers.add({ id: "agents", title: "Agents", element: screen.agents.element, shown: () => screen.agents.hasAny });
  drawers.add({ id: "why", title: "Why", element: screen.inspector.element, shown: () => screen.inspector.hasAny });
  screen.manage.addPanels();
  drawers.add({ id: "text", title: "Text", element: screen.text, shown: () => screen.text.childElementCount > 0 });
  drawers.add({ id: "you", title: "You", element: screen.you.element });
  drawers.add({ id: "about", title: "About", element: h("div", { class: "about" }, screen.subtitle, screen.aloneLink, screen.description) });
}
