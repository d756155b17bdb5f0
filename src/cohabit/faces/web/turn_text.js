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
  const movers = playedBy(session?.members ?? [], view?.to_move ?? []);
  let text = "";
  if (view?.over) text = "The game is over.";
  else if (out) text = "You are out: your seat is closed. It opens again in the next game, if not before.";
  else if (mine) text = several ? "You can act." : "It is your turn.";
  else if (movers.length) text = `${movers.length > 1 ? "Can act" : "To move"}: ${shortList(movers)}.`;
  if (view?.paused) text = `Paused. ${text}`;
  const seat = me && watchedSeat(me);
  if (seat && view) {
    const player = session?.members.find((m) => m.seat === seat);
    text = `You see what ${player ? nameInWords(player.handle) : `seat ${seat}`} sees. ${text}`;
  }
  return text;
}

/** Of those who can act, the members; if there are none, or we may not see them, also seats without a player. */
function playedBy(members, names) {
  const known = new Set(members.map((member) => member.handle));
  const played = names.filter((name) => known.has(name));
  return played.length ? played : names;
}

function shortList(handles) {
  const names = handles.map(nameInWords);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
