// How the page puts things: one-line texts, ages, days, names of sources and tracks, links that are safe to follow.

export const HUB = "action-hub";
export const SOURCES = { mail: "Mail", teams: "Teams", meeting: "Meeting", [HUB]: "Action" };
export const TRACKS = { A: "A · internal", B: "B · public material" };

/** The label of a row's track, as in everything that Orrery writes: a copy of the page still names its track. */
export const LABELS = { A: "[track:A] internal", B: "[track:B] public" };

/** Why a row is not listed, as the server names it, and as its mark shows it. */
export const REASONS = {
  answered: "Answered",
  bulk: "Bulk",
  "not-to-you": "Not to you",
  earlier: "Earlier in a conversation",
  own: "Your own",
  over: "Over",
  cancelled: "Cancelled",
  declined: "Declined",
  "no-message": "No message",
  later: "For later",
  done: "Done",
};

const MINUTE = 60_000;
const LONGEST_LINE = 400;
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
const FORMATS = /(?![\u200c\u200d])\p{Cf}/gu; // joiners stay: Indic scripts and emoji are written with them
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DAY_AND_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "short" });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short" });
const NUMBER = new Intl.NumberFormat("en");

export const number = (value) => NUMBER.format(value);

export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** A text from outside as one line, without what would reorder or hide the words around it. */
export function oneLine(text, longest = LONGEST_LINE) {
  const line = String(text ?? "").slice(0, 4 * longest).replace(BREAKS, " ").replace(FORMATS, "").trim();
  return line.length > longest ? `${line.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/** The text of a message: its lines stay, control characters and overrides of the writing direction go. */
export function manyLines(text) {
  return text.replace(/\r\n?/g, "\n").replace(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, "");
}

/** The address if a browser may follow it, else nothing. */
export function safeLink(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url && (url.protocol === "https:" || url.protocol === "http:") ? url.href : "";
}

/** The local calendar day, by its parts: a day may have 23 or 25 hours. */
export function localDay(date = new Date()) {
  const two = (part) => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function dayWords(date) {
  return (date.getFullYear() === new Date().getFullYear() ? DAY : DAY_AND_YEAR).format(date);
}

/** A day with its weekday. */
export const weekday = (date) => WEEKDAY.format(date);

/** The day `days` after today, by its parts: a day may have 23 or 25 hours. */
export function dayAfter(days) {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

/** When a meeting is: "in 2 h", "now" while it is under way, and of a whole day which day it is. */
export function meetingTime(iso, ends, isAllDay) {
  const [begins, end] = [new Date(iso), new Date(ends)];
  if (begins <= Date.now() && Date.now() < end) return isAllDay ? "today" : "now";
  if (!isAllDay) return age(iso);
  return localDay(begins) === localDay(dayAfter(1)) ? "tomorrow" : dayWords(begins);
}

/** "5 min ago", "in 2 h", or the day when it is over a week away. */
export function age(iso) {
  const at = new Date(iso);
  if (isNaN(at)) return "";
  const ahead = at > Date.now();
  const minutes = ahead ? Math.ceil((at - Date.now()) / MINUTE) : Math.floor((Date.now() - at) / MINUTE);
  if (minutes < 1) return "just now";
  if (minutes >= 7 * 24 * 60) return dayWords(at);
  const size = [[24 * 60, "d"], [60, "h"], [1, "min"]].find(([most]) => minutes >= most);
  const amount = `${Math.floor(minutes / size[0])} ${size[1]}`;
  return ahead ? `in ${amount}` : `${amount} ago`;
}

/** How fresh, in three steps that the styles know. */
export function freshness(iso) {
  const minutes = (Date.now() - Date.parse(iso)) / MINUTE;
  if (minutes < 0) return minutes > -60 ? "soon" : "ahead";
  return minutes < 60 ? "new" : minutes < 24 * 60 ? "today" : "old";
}

export function moment(iso) {
  const at = new Date(iso);
  return isNaN(at) ? "" : MOMENT.format(at);
}

/** When a task is due, in words, and whether that day is over. */
export function due(until) {
  const [year, month, day] = String(until).split("-").map(Number);
  const date = new Date(year, month - 1, day);
  if (isNaN(date)) return null;
  const late = localDay(date) < localDay();
  return { late, words: late ? `overdue since ${dayWords(date)}` : `until ${dayWords(date)}` };
}

/** Lower case without accents, for the search. */
export function folded(text) {
  const lower = text.toLowerCase();
  return /^[\0-\x7f]*$/.test(lower) ? lower : lower.normalize("NFKD").replace(/\p{M}/gu, "");
}

/** Make an element: its properties, then its children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** A link that opens elsewhere, or nothing when its address is not one to follow. */
export function linkTo(address, words) {
  const href = safeLink(address);
  return href ? make("a", { href, target: "_blank", rel: "noopener noreferrer", textContent: words }) : "";
}

/** A name, a sender or a subject, on which the writing direction around it does not depend. */
export const isolated = (text, longest) => make("bdi", { textContent: oneLine(text, longest) });
