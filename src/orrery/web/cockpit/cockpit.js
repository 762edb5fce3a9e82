// The comms tab: it puts the parts together, and shows what they know.
import { Actions } from "./actions.js";
import { Board } from "./board.js";
import { Dismissals } from "./dismissals.js";
import { Drafts } from "./drafts.js";
import { listen } from "./keys.js";
import { askDay } from "./later.js";
import { List } from "./list.js";
import { announce, showBanner, showState } from "./notices.js";
import { Opened } from "./opened.js";
import { countAges } from "./row.js";
import { signIn } from "./sign-in.js";
import { enter, hasToken, listeners, takeCode } from "./server.js";
import { makeChips, makeHealth, readHealth, showChips, showMailboxes } from "./surroundings.js";
import { Sync } from "./sync.js";
import { counted, number, SOURCES, TRACKS } from "./words.js";

const MINUTE = 60_000;
const LISTED = "Rows that wait: the next meeting, what is due, then the newest";
const REREAD_PAUSE = 150;
const at = (id) => document.getElementById(id);
const search = at("search");

const dismissals = new Dismissals((words) => showBanner("storage", words));
const board = new Board(dismissals);
const list = new List(board);
const sync = new Sync(board, () => show(), announce);
const opened = new Opened(list);
const drafts = new Drafts(list, announce);
const actions = new Actions(board, dismissals, { show: showAnd, reread: rereadSoon, announce });
board.pinned = () => drafts.held;

function show({ fromTop = false } = {}) {
  const open = board.open();
  list.show(board.matching(open), { fromTop });
  showMailboxes(board.mailboxes);
  showChips(board, open);
  showCounts(open.length);
  showPicked();
  showInstead(open.length);
  const { last } = actions;
  at("undo").ariaDisabled = String(!last);
}

/** Show the rows, with `row` as the current one if it is among them. */
function showAnd(row) {
  show();
  if (row) list.go(list.view.find((one) => one.id === row.id));
}

function showCounts(open) {
  const shown = list.view.length;
  const rows = board.isNarrowed ? `${number(shown)} of ${counted(open, "row")}` : counted(open, "row");
  showNotListed();
  at("count").textContent = dismissals.size ? `${rows}, ${number(dismissals.size)} dismissed today` : rows;
  const name = board.isListed ? "Comms" : "Not listed";
  document.title = open ? `(${number(open)}) ${name} · Orrery` : `${name} · Orrery`;
}

function showNotListed() {
  const { isListed, notListed } = board;
  at("not-listed").hidden = isListed && !notListed.count;
  at("not-listed-line").textContent = notListed.line || "Every row that was read is listed.";
  at("not-listed-show").querySelector("span").textContent = isListed ? "Show them" : "Back to the list";
  at("rows-title").textContent = isListed ? LISTED : "Rows that are not listed, the newest first";
}

/** Show the rows that do not wait in place of those that do, or the other way round. */
function turn() {
  board.isListed = !board.isListed;
  list.pick([...list.shown], false);
  announce(board.isListed ? "Back in the list." : board.notListed.line);
  sync.reread().then(() => show({ fromTop: true }));
}

function showPicked() {
  const count = list.picked.size;
  at("bulk").hidden = !count;
  document.documentElement.classList.toggle("selecting", count > 0);
  at("picked").textContent = `${number(count)} selected`;
  at("all").checked = count > 0 && count === list.view.length;
  at("all").indeterminate = count > 0 && count < list.view.length;
}

function showInstead(open) {
  const again = { words: "Try again", act: () => sync.reread() };
  const reading = board.mailboxes.some((one) => one.state === "loading");
  const clear = { words: "Show all rows", act: widen };
  if (list.view.length) showState("");
  else if (open) showState("empty", "No row matches", "Nothing fits the search and the filters.", clear);
  else if (sync.failure && !board.loaded) showState("failed", "The list could not be read", sync.failure.message, again);
  else if (!board.loaded || reading) showState("loading", "Reading the mailboxes…", "Rows appear as they are read.");
  else if (board.mailboxes.some((one) => one.state === "sign-in-needed"))
    showState("failed", "Sign in to see your rows", "The button is above; the rows appear when that is done.");
  else if (board.mailboxes.length && board.mailboxes.every((one) => one.state !== "fresh"))
    showState("failed", "Nothing could be read", "The reasons are above.", again);
  else if (dismissals.size) {
    const rows = counted(dismissals.size, "dismissed row");
    showState("empty", "All done for today", `${rows} will be back after midnight, if still in the mailbox.`);
  }
  else if (!board.isListed) showState("empty", "Everything is listed", "No row was left out.");
  else showState("empty", "Nothing waits for you", "New messages appear here when they are read.");
}

let rereading = 0;

function rereadSoon() {
  show();
  clearTimeout(rereading);
  rereading = setTimeout(() => sync.reread(), REREAD_PAUSE);
}

function widen() {
  board.widen();
  search.value = "";
  show({ fromTop: true });
  list.go(list.current);
}

function clearSearch() {
  if (!board.query) return;
  board.query = search.value = "";
  show({ fromTop: true });
}

/** The rows that an act is for: the selected ones, else the current one. */
function meant() {
  const rows = list.picked.size ? list.shown : [list.current];
  return rows.filter(Boolean);
}

/** Do what takes rows away, and stay in the list. */
function leaving(act) {
  act();
  if (list.current) list.go(list.current);
}

const acts = {
  open: (rows) => rows[0] && opened.toggle(rows[0]),
  draft: (rows, toAll) => rows.length && drafts.open(rows, toAll),
  task: (rows) => rows.length && actions.addToTasks(rows),
  dismiss: (rows) => leaving(() => actions.dismiss(rows)),
  done: (rows) => leaving(() => actions.setAside(rows, "done")),
  later: (rows) => rows.length && askDay((day) => leaving(() => actions.setAside(rows, "later", day))),
  back: (rows) => leaving(() => actions.setAside(rows.filter((row) => row.reason), "undo")),
  clear: () => {
    list.pick([...list.shown], false);
    showPicked();
    list.go(list.current);
  },
};

function pickAll(isPicked) {
  list.pick(list.view, isPicked);
  showPicked();
}

function leave(target) {
  if (target === search) {
    clearSearch();
    list.go(list.current);
  }
  else if (drafts.close()) return;
  else if (list.picked.size) acts.clear();
  else if (list.current && list.opened.has(list.current.id)) opened.close(list.current);
  else if (board.isNarrowed) widen();
}

const keys = {
  j: () => list.move(1),
  k: () => list.move(-1),
  ArrowDown: () => list.move(1),
  ArrowUp: () => list.move(-1),
  Enter: () => list.current && opened.toggle(list.current),
  d: () => acts.draft(meant()),
  D: () => acts.draft(meant(), true),
  t: () => acts.task(meant()),
  e: () => acts.dismiss(meant()),
  f: () => acts.done(meant()),
  l: () => acts.later(meant()),
  b: () => acts.back(meant()),
  n: () => turn(),
  z: () => actions.undo(),
  x: () => list.current && pick(list.current, !list.picked.has(list.current.id), false),
  a: () => pickAll(list.picked.size < list.view.length),
  r: () => refresh(),
  "/": () => search.select(),
  "?": () => at("help-dialog").showModal(),
};

function pick(row, isPicked, isRange) {
  list.pickFrom(row, isPicked, isRange);
  showPicked();
}

function clicked(event) {
  const row = list.rowOf(event.target);
  if (!row) return;
  const name = event.target.closest("[data-act]")?.dataset.act;
  if (name === "close-draft") drafts.close();
  else if (name) acts[name]([row]);
  else if (event.target.matches(".pick input")) pick(row, event.target.checked, event.shiftKey);
  else if (!event.target.closest("a, button, label, form, .below") && getSelection().isCollapsed) opened.toggle(row);
}

async function refresh() {
  const button = at("refresh");
  button.ariaDisabled = "true";
  await window.cosmosSync("pulse");
  button.ariaDisabled = "false";
}

/** Refresh the rows: the page's global function, as the specification names it. */
window.cosmosSync = async (kind) => {
  if (kind !== "pulse") throw new RangeError("cosmosSync knows one kind: pulse");
  await sync.pulse();
};

function eachMinute() {
  countAges();
  const dismissed = dismissals.size;
  const isNewDay = dismissals.refreshDay();
  if (board.loaded) show();
  if (isNewDay && dismissed) announce("A new day: what was dismissed yesterday is back.");
  if (document.hidden || at("desk").hidden) return;
  sync.reread();
  readHealth();
}

function setLocked(isLocked) {
  at("desk").hidden = isLocked;
  at("locked").hidden = !isLocked;
  at("refresh").hidden = at("health").hidden = at("undo").hidden = isLocked;
}

function lock(words) {
  setLocked(true);
  at("locked-why").textContent = words;
  at("locked-title").focus();
}

const LOCKS = {
  "code-invalid":
    "This link does not open the cockpit: it was used already, or is older than 60 seconds. If you did not use it, " +
    "somebody else may have: end the cockpit with Ctrl-C in its terminal.",
  "token-wrong": "The cockpit was restarted since this page was opened.",
};

listeners.add((error) => {
  if (error?.status === 401) lock(LOCKS[error.tag] ?? "");
});

async function start(code = takeCode()) {
  sync.retry = () => start(code);
  try {
    if (code !== null) await enter(code);
  } catch (error) {
    if (error.status && error.status !== 401) lock(error.message); // the listeners have heard of the others
    return;
  }
  sync.retry = () => sync.reread();
  if (!hasToken()) return lock("");
  setLocked(false);
  show();
  await sync.reread();
  await readHealth();
}

function wire() {
  makeChips("sources", SOURCES, board.sources, () => show({ fromTop: true }));
  makeChips("tracks", TRACKS, board.tracks, () => show({ fromTop: true }));
  makeHealth();
  listen(keys, new Set(["j", "k", "ArrowDown", "ArrowUp", "e", "f", "z"]), leave);
  at("rows").addEventListener("click", clicked);
  at("refresh").addEventListener("click", refresh);
  at("mailboxes").addEventListener("click", async (event) => {
    const account = event.target.closest("button.sign-in")?.dataset.account;
    if (account && (await signIn(account, announce))) sync.follow(account);
  });
  at("not-listed-show").addEventListener("click", turn);
  at("help").addEventListener("click", keys["?"]);
  at("undo").addEventListener("click", keys.z);
  at("all").addEventListener("change", (event) => pickAll(event.target.checked));
  at("find").addEventListener("submit", (event) => {
    event.preventDefault();
    list.go(list.current);
  });
  search.addEventListener("input", () => {
    board.query = search.value;
    show({ fromTop: true });
  });
  at("bulk").addEventListener("click", (event) => {
    const name = event.target.closest("[data-bulk]")?.dataset.bulk;
    if (name) acts[name](list.shown);
  });
  setInterval(eachMinute, MINUTE);
  document.addEventListener("visibilitychange", () => document.hidden || eachMinute());
  addEventListener("storage", () => {
    dismissals.read();
    if (board.loaded) show();
  });
  addEventListener("hashchange", () => location.hash && start());
}

wire();
start();
