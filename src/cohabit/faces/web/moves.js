// What the bar of a room offers now, and what happens when it is chosen: actions, seats, bodies, and one's own seat back.

import { actionLabel } from "./controls.js";
import { isWatchOnly } from "./panels.js";

/** A title, and the choices, `{label, …}` each. */
export function offered(screen) {
  const { me, view, session, body } = screen;
  if (me?.played_by && me.stand_in && me.seat && !screen.isOut()) return [`${me.played_by} plays your seat`, [{ takeOver: true, label: "Take over" }]];
  if (!me || isWatchOnly(me) || me.played_by) return ["", []];
  if (screen.isMyTurn()) {
    const listed = (view.observation.choices ?? []).filter(({ action }) => !screen.frontEnd.offers(action));
    const actions = listed.map((choice) => ({ ...choice, label: actionLabel(choice, view.observation.status) }));
    if (session?.current_turn === me.handle) actions.push({ endTurn: true, label: "End my turn" });
    return ["Your move", actions];
  }
  if (body.main.length) return ["", body.main.map(([command, label]) => ({ body: command, label }))];
  if (!session || session.is_played === false || session.archived || me.seat || me.claim || !me.grant.act.includes("act") || body.offered.length) return ["", []];
  const taken = session.members.map((m) => m.seat);
  const free = session.members.length ? session.seats.filter((seat) => !taken.includes(seat)) : [];
  if (free.length) return ["Free seats", free.map((seat) => ({ sit: { seat }, label: `Take seat ${seat}` }))];
  // No free seat is known, but the world may open one for a new player.
  return ["You have no seat", [{ sit: {}, label: "Take a seat" }]];
}

/** Resolves to `{message, link}`: a text about the result, and where it leads, if anywhere. */
export async function choose(screen, choice) {
  const call = (command, args = {}) => screen.connection.callOnce(command, args, screen.room);
  if (choice.sit) {
    const { seat } = await call("sit", choice.sit);
    await screen.guarded(() => screen.fetchMe());
    return { message: `You took seat ${seat}.` };
  }
  if (choice.endTurn) {
    const { next } = await call("turn_advance");
    return { message: `You ended your turn. It is ${next}'s turn.` };
  }
  if (choice.body) return screen.body.run(choice.body);
  if (choice.takeOver) {
    await call("take_over");
    await screen.guarded(() => screen.fetchMe());
    return { message: "You play your seat." };
  }
  const result = await call("act", { action: choice.action, params: choice.params });
  return { message: result.message, link: screen.linkOf(result) };
}
