// The entry point: signs in with the token of the tab and shows the screen that belongs to the address.

import { Connection } from "./connection.js";
import { h, setText } from "./dom.js";
import { callOverHttp, JoinScreen, LobbyScreen, readInvite } from "./join.js";
import { OwnDataScreen } from "./own_data.js";
import { RoomScreen } from "./room.js";
import { SignInScreen } from "./signin.js";
import { forgetToken, memberOf, rememberMember, saveToken, saveWayBack, takeToken, takeWayBack } from "./token.js";

const STATES = { connecting: "Connecting …", open: "Connected", lost: "Connection lost. Reconnecting …" };
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const headline = document.getElementById("headline");
const stateElement = document.getElementById("connection");
const errorElement = document.getElementById("error");
let connection = null;
let screen = null;

// -- the address ------------------------------------------------------------------------------
function roomInAddress() {
  const parameters = new URLSearchParams(location.search);
  return parameters.get("room") ?? parameters.get("join");
}

/** True if the address is a join link: people without a token join under a name. */
function isJoinLink() {
  return new URLSearchParams(location.search).has("join");
}

/** True if the address asks for the table of the world alone. */
function isAlone() {
  return new URLSearchParams(location.search).get("view") === "table";
}

function setAddress(room, replace = false) {
  const address = location.pathname + (room ? `?room=${encodeURIComponent(room)}${isAlone() ? "&view=table" : ""}` : "");
  if (address !== location.pathname + location.search) {
    history[replace ? "replaceState" : "pushState"](null, "", address);
  }
}

// -- screens ----------------------------------------------------------------------------------
function show(next) {
  screen?.stop?.();
  screen = next;
  document.body.classList.toggle("alone", Boolean(next.alone));
  document.body.classList.toggle("in-room", next instanceof RoomScreen);
  headline.replaceChildren(...(next.headline ? [next.headline] : []));
  main.replaceChildren(next.element);
  document.title = "Cohabit";
  drawNav();
  next.focus?.();
}

function drawNav() {
  const button = (label, action) => h("button", { class: "quiet", onclick: () => action() }, label);
  nav.replaceChildren(
    ...(connection && screen?.hasWayBack ? [button("Rooms", openRooms)] : []),
    ...(connection && !(screen instanceof OwnDataScreen || screen instanceof RoomScreen) ? [button("Your data", openOwnData)] : []),
    ...(connection ? [button("Sign out", signOut)] : []),
  );
}

function showError(text) {
  errorElement.hidden = !text;
  setText(errorElement, text ?? "");
}

/** `former`: the token of somebody who has left; it only shows and deletes the data of its owner. */
function openSignIn(message, former = null) {
  show(new SignInScreen(message, (token, room) => {
    saveToken(token);
    if (room) setAddress(room, true);
    start();
  }, former && (() => openFormerData(former))));
}

function openFormerData(token) {
  show(new OwnDataScreen({ call: (command, args) => callOverHttp(command, args, token) }, signOut));
  screen.start();
}

function signOut(message, former = null) {
  connection?.close();
  connection = null;
  forgetToken();
  if (former) saveToken(former); // in this tab
  setText(stateElement, "");
  stateElement.dataset.state = "";
  showError(null);
  openSignIn(message, former);
}

async function openRooms(message) {
  setAddress(null);
  showError(message);
  const own = connection;
  const { RoomsScreen } = await import("./rooms.js"); // most links lead to a room
  if (connection !== own) return; // signed out meanwhile
  show(new RoomsScreen(connection, openRoom, join, openCreate));
  screen.start();
}

function openOwnData() {
  setAddress(null);
  showError(null);
  show(new OwnDataScreen(connection, signOut));
  screen.start();
}

async function openCreate() {
  showError(null);
  const { CreateRoomScreen } = await import("./create.js"); // most visits do not need it
  show(new CreateRoomScreen(connection, openRoom, openRooms));
  screen.start();
}

/** Ask for a name. `invite`: a token that several may accept; null: the room may be open. */
function openJoin(room, invite, said) {
  connection?.close();
  connection = null;
  setText(stateElement, "");
  stateElement.dataset.state = "";
  const signIn = (token) => {
    saveToken(token, invite);
    setAddress(room, true);
    start();
  };
  const known = memberOf(room);
  show(new JoinScreen(room, invite, (token, name) => {
    rememberMember(room, token, name);
    signIn(token);
  }, known && { name: known.name, signIn: () => signIn(known.token) }, said));
}

/** Wait until a host lets us in, with a token of our own. */
function openLobby(room, status, replace) {
  setAddress(room, replace);
  showError(null);
  show(new LobbyScreen(room, status, (args) => connection.call("join", args, room), () => openRoom(room, true)));
  screen.start();
}

function openRoom(room, replace = false) {
  const address = new URLSearchParams(location.search);
  if (address.has("at") && roomInAddress() === room) {
    openReplay(room, Number(address.get("at")) || null);
    return;
  }
  setAddress(room, replace);
  showError(null);
  const onUnavailable = (text) => {
    const { farewell } = screen;
    if (goBack()) return;
    openRooms(text);
    screen.farewell = farewell; // the token may have ended with it
  };
  show(new RoomScreen(connection, room, { showError, onUnavailable, openData: openOwnData, travel, alone: isAlone() }));
  screen.start();
}

/** Watch a room again, from a position on. */
async function openReplay(room, at) {
  showError(null);
  const { ReplayScreen } = await import("./replay.js"); // most visits do not need it
  show(new ReplayScreen(connection, room, at));
  screen.start();
}

/** Show the room that an action leads to, in this tab. Its token may be another one. When it ends, there is a way back. */
function travel(room, token) {
  saveWayBack(roomInAddress());
  if (token === connection.token) {
    openRoom(room);
    return;
  }
  saveToken(token);
  setAddress(room);
  start();
}

/** Back to the room from where this tab went to another one, under the token for it. `room`: only to this one. */
function goBack(room = null) {
  const former = takeWayBack(room);
  if (!former) return false;
  setAddress(former, true);
  start();
  return true;
}

/** Accept an invite, or enter a room that is open to guests or to hosts of the house. */
async function join(room, replace = false) {
  const { token, status, member } = await connection.call("join", {}, room);
  if (token) {
    // We get a token of our own: others know that of the link.
    saveToken(token, connection.token);
    if (member) rememberMember(room, token, member, connection.token);
    setAddress(room, replace);
    start();
  } else if (status === "joined") {
    openRoom(room, replace);
  } else {
    openLobby(room, status, replace);
  }
}

/** The first screen after signing in: the room in the address, the only room of this member, or the list of rooms. */
async function openFirstScreen() {
  try {
    const { rooms } = await connection.call("rooms");
    const wanted = roomInAddress();
    const room = wanted ? rooms.find((room) => room.id === wanted) : rooms.length === 1 ? rooms[0] : undefined;
    if (room?.invite?.shared && !room.you) openJoin(room.id, connection.token, room.invite); // each under its own name
    else if (room && (room.token_known || (wanted && !room.you))) await join(room.id, true);
    else if (wanted && !room && isJoinLink()) openJoin(wanted, null);
    else if (wanted || room?.you) openRoom(wanted ?? room.id, true);
    else openRooms();
  } catch (error) {
    if (error.code !== "LOST") openRooms(error.message);
  }
}

// -- the connection ---------------------------------------------------------------------------
function start() {
  let token = takeToken();
  if (!token && !isJoinLink()) {
    token = memberOf(roomInAddress())?.token ?? null;
    if (token) saveToken(token);
  }
  connection?.close();
  connection = null;
  showError(null);
  if (!token && isJoinLink()) {
    openJoin(roomInAddress(), null);
    return;
  }
  if (!token) {
    openSignIn();
    return;
  }
  const invite = readInvite(token);
  if (invite?.uses > 1) { // several may accept it, each under its own name
    openJoin(invite.room, token);
    return;
  }
  main.replaceChildren(h("p", { class: "loading" }, "Loading …"));
  screen?.stop?.();
  screen = null;
  headline.replaceChildren();
  document.body.classList.remove("in-room");
  connection = new Connection(token, {
    state(state, detail) {
      stateElement.dataset.state = document.body.dataset.connection = state;
      setText(stateElement, detail ? `${STATES[state]} (${detail})` : STATES[state]);
    },
    ready(refusal) {
      if (refusal && goBack()) return; // a visit is over
      if (refusal) openRooms(screen?.farewell ?? refusal.message);
      else if (screen) screen.start();
      else openFirstScreen();
    },
    push: (frame) => screen?.push?.(frame),
    refused({ message }, wasSignedIn) {
      if (wasSignedIn && goBack()) return; // a visit is over
      const former = message.includes("`my_data`") ? token : null;
      if (screen?.farewell) signOut(screen.farewell, former);
      else if (!wasSignedIn && isJoinLink()) openJoin(roomInAddress(), null);
      else signOut(`${wasSignedIn ? "You were signed out" : "Sign-in failed"}: ${former ? message.split(". ")[0] : message}.`, former);
    },
  });
  drawNav();
}

window.addEventListener("hashchange", () => {
  if (location.hash.length > 1) start(); // another link was opened in the same tab
});
window.addEventListener("popstate", () => {
  if (connection === null || location.hash.length > 1) return;
  if (!roomInAddress()) openRooms();
  else if (!goBack(roomInAddress())) openRoom(roomInAddress(), true);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // on this page the fragment of the address is a token
  main.focus();
});
start();
