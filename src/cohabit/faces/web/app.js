// The page: who is looking (a token), where (a room), and which screen that makes.

import { h, say } from "./dom.js";
import { Link } from "./link.js";
import { RoomScreen } from "./room.js";
import { RoomsScreen } from "./rooms.js";
import { SignIn } from "./signin.js";

const KEY = "cohabit.token";
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const state = document.getElementById("link");
const problem = document.getElementById("problem");
let link = null;
let screen = null;

// -- the token --------------------------------------------------------------------------------
/** The token of the address, which is taken out of it at once; else the one this tab has. */
function takeToken() {
  const fragment = location.hash.slice(1);
  if (fragment) {
    history.replaceState(history.state, "", location.pathname + location.search);
    keepToken(decoded(fragment));
  }
  return keptToken();
}

let inMemory = null; // where a browser allows no storage
function keepToken(token) {
  inMemory = token;
  try {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
  } catch {
    // kept in memory then
  }
}

function keptToken() {
  try {
    return sessionStorage.getItem(KEY) ?? inMemory;
  } catch {
    return inMemory;
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// -- where we are -----------------------------------------------------------------------------
function wantedRoom() {
  return new URLSearchParams(location.search).get("room");
}

function goTo(room, replace = false) {
  const address = location.pathname + (room ? `?room=${encodeURIComponent(room)}` : "");
  if (address !== location.pathname + location.search) {
    history[replace ? "replaceState" : "pushState"](null, "", address);
  }
}

function show(next) {
  screen?.stop?.();
  screen = next;
  main.replaceChildren(next.element);
  document.title = "Cohabit";
  drawNav();
  next.focus?.();
}

function drawNav() {
  const inside = link !== null;
  nav.replaceChildren(
    ...(inside && screen instanceof RoomScreen ? [h("button", { class: "quiet", onclick: () => openRooms() }, "Rooms")] : []),
    ...(inside ? [h("button", { class: "quiet", onclick: () => signOut() }, "Sign out")] : []),
  );
}

function complain(text) {
  problem.hidden = !text;
  say(problem, text ?? "");
}

// -- screens ----------------------------------------------------------------------------------
function signIn(message) {
  show(new SignIn(message, (token, room) => {
    keepToken(token);
    if (room) goTo(room, true);
    start();
  }));
}

function signOut(message) {
  link?.end();
  link = null;
  keepToken(null);
  say(state, "");
  state.dataset.state = "";
  complain(null);
  signIn(message);
}

function openRooms(message) {
  goTo(null);
  complain(message);
  show(new RoomsScreen(link, openRoom));
  screen.start();
}

function openRoom(room, replace = false) {
  goTo(room, replace);
  complain(null);
  show(new RoomScreen(link, room, { complain, gone: openRooms }));
  screen.start();
}

/** The first screen of a token: the room it asked for, the only one it has, or the list. */
async function firstScreen() {
  try {
    const { rooms } = await link.call("rooms");
    const mine = rooms.filter((room) => room.you);
    const wanted = rooms.find((room) => room.id === wantedRoom());
    if (wanted && !wanted.you) await link.call("join", {}, wanted.id); // an invite, or a room that takes guests
    if (wantedRoom()) openRoom(wantedRoom(), true);
    else if (rooms.length === 1 && mine.length === 1) openRoom(mine[0].id, true);
    else openRooms();
  } catch (error) {
    if (error.code !== "LOST") complain(error.message);
  }
}

// -- the connection ---------------------------------------------------------------------------
const WORDS = { connecting: "Connecting …", open: "Connected", lost: "Connection lost; trying again" };

function start() {
  const token = takeToken();
  link?.end();
  link = null;
  if (!token) {
    signIn();
    return;
  }
  main.replaceChildren(h("p", { class: "waiting" }, "Opening …"));
  screen?.stop?.();
  screen = null;
  link = new Link(token, {
    state(now, detail) {
      state.dataset.state = now;
      say(state, detail ? `${WORDS[now]} (${detail})` : WORDS[now]);
    },
    ready: () => (screen ? screen.start() : firstScreen()),
    push: (frame) => screen?.push?.(frame),
    refused: (refusal) => signOut(`That token was not accepted: ${refusal.message}.`),
  });
  drawNav();
}

window.addEventListener("hashchange", () => {
  if (location.hash.length > 1) start(); // another link, opened in the same tab
});
window.addEventListener("popstate", () => {
  if (link === null || location.hash.length > 1) return;
  if (wantedRoom()) openRoom(wantedRoom(), true);
  else openRooms();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment of an address is for tokens here
  main.focus();
});
start();
