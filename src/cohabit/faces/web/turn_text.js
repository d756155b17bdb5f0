// Whose turn it is, in words.

import { nameInWords } from "./dom.js";
import { watchedSeat } from "./panels.js";

/** `mine`: we can act. `out`: our seat is closed until the next game. Empty if there is nothing to say. */
export function turnText(me, view, session, mine, out) {
  if (session?.archived) {
    const next = me?.grant.act.includes("control_world") ? "Bring it back" : "Ask a host to bring it back";
    return `Archived: you can read this room, but nothing in it can be changed. ${next} to go on.`;
  }
  const several = view?.to_move.length > 1;
  let text = "";
  if (view?.over) text = "The game is over.";
  else if (out) text = "You are out: your seat is closed. It opens again in the next game, if not before.";
  else if (mine) text = several ? "You can act." : "It is your turn.";
  else if (view?.to_move.length) text = `${several ? "Can act" : "To move"}: ${shortList(view.to_move)}.`;
  if (view?.paused) text = `Paused. ${text}`;
  const seat = me && watchedSeat(me);
  if (seat && view) {
    const player = session?.members.find((m) => m.seat === seat);
    text = `You see what ${player ? nameInWords(player.handle) : `seat ${seat}`} sees. ${text}`;
  }
  return text;
}

function shortList(handles) {
  const names = handles.map(nameInWords);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
