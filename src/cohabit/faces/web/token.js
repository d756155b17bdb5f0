// The token that this tab signs in with. It is kept in the session storage: other tabs do not see it, and it is gone
// when the tab is closed. Members who joined by a link have no link of their own to come back with, so their tokens are
// kept in the local storage until they sign out. The same is true of a link that can be opened once.

const TOKEN = "cohabit.token";
const INVITE = "cohabit.invite";
const MEMBERS = "cohabit.members";
const WAY_BACK = "cohabit.back";
const memory = new Map(); // used where the browser allows no storage

/** The token from the address, which is removed from the address at once; otherwise the token of this tab. */
export function takeToken() {
  const fragment = location.hash.slice(1);
  if (!fragment) return load(TOKEN);
  history.replaceState(history.state, "", location.pathname + location.search);
  const token = decode(fragment);
  const known = Object.values(members()).find((member) => member.link === token); // it was opened in this browser
  if (known) saveToken(known.token, token);
  else if (token !== load(INVITE)) saveToken(token); // an invite link that was accepted in this tab: still the same member
  return load(TOKEN);
}

/** `invite`: the token of the invite that this token was issued for, if it can be accepted several times. */
export function saveToken(token, invite = null) {
  save(TOKEN, token);
  save(INVITE, invite);
}

/** Note the room that this tab leaves for another one, which has a token of its own. */
export function saveWayBack(room) {
  save(WAY_BACK, JSON.stringify({ room, token: load(TOKEN) }));
}

/** Back to the room that this tab came from, under its token. Returns the room, or null. `room`: only if it is this one. */
export function takeWayBack(room = null) {
  const back = JSON.parse(load(WAY_BACK) ?? "null");
  if (!back || (room && room !== back.room)) return null;
  save(WAY_BACK, null);
  saveToken(back.token);
  return back.room;
}

/** Forget the token of this tab, in the local storage too. */
export function forgetToken() {
  const token = load(TOKEN);
  saveMembers(Object.fromEntries(Object.entries(members()).filter(([, member]) => member.token !== token)));
  saveToken(null);
  save(WAY_BACK, null);
}

/** The member of this browser who joined this room by a link: `{ token, name }`, or undefined. */
export function memberOf(room) {
  return members()[room];
}

/** `link`: the token of the link that this token replaces. */
export function rememberMember(room, token, name, link = undefined) {
  saveMembers({ ...members(), [room]: { token, name, link } });
}

function members() {
  try {
    const found = JSON.parse(localStorage.getItem(MEMBERS) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

function saveMembers(known) {
  try {
    localStorage.setItem(MEMBERS, JSON.stringify(known));
  } catch {
    // Without storage, members who joined by a link have to join again.
  }
}

function save(key, value) {
  memory.set(key, value);
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // The copy in memory is enough.
  }
}

function load(key) {
  try {
    return sessionStorage.getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
