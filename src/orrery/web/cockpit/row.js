// One row as an element: built once, painted when something about it has changed.
import { age, due, freshness, HUB, isolated, LABELS, make, meetingTime, moment, oneLine } from "./words.js";
import { REASONS, SOURCES, TRACKS } from "./words.js";

const template = document.getElementById("row-template");
const PREVIEW = 300;

/** Build the element of a row. What never changes with an id is written here, the rest by `paint`. */
export function build(row) {
  const element = template.content.firstElementChild.cloneNode(true);
  element.dataset.id = row.id;
  return element;
}

function badge(kind, words) {
  return make("span", { className: `badge ${kind}`, textContent: words });
}

function badges(row, look) {
  const until = row.until ? due(row.until) : null;
  return [
    row.warning && badge("alarm", "Check the sender"),
    row.reason && badge("reason", REASONS[row.reason] ?? oneLine(row.reason, 30)),
    row.priority === "high" && badge("high", "High"),
    row.priority === "low" && badge("low", "Low"),
    until && badge(until.late ? "late" : "until", until.words),
    look.isTask && badge("task", "Task"),
    row.gone ? badge("stale", "No longer there") : look.isStale && badge("stale", "Stale"),
  ].filter(Boolean);
}

function label(row, look) {
  const marks = badges(row, look).map((one) => one.textContent);
  const track = TRACKS[row.track] ? `track ${TRACKS[row.track]}` : "no track";
  const [from, address] = [oneLine(row.sender), oneLine(row.address)];
  const who = [`${SOURCES[row.source] ?? row.source} from ${from}`, address === from ? "" : address];
  const parts = [...who, oneLine(row.subject), ...marks, oneLine(row.warning), track, oneLine(row.account)];
  return parts.filter(Boolean).join(", ");
}

/** Write what the row shows into its element. */
export function paint(element, row, look) {
  const { sender, subject, preview, received_at, ends_at, priority, until, reason, gone } = row;
  const shown = [sender, subject, preview, received_at, ends_at, priority, until, reason, gone, row.address, row.warning];
  const seen = JSON.stringify([...shown, look]);
  if (element.seen === seen) return;
  element.seen = seen;
  const at = (name) => element.querySelector(name);
  element.setAttribute("aria-label", label(row, look));
  element.classList.toggle("is-high", row.priority === "high");
  element.classList.toggle("is-stale", look.isStale);
  element.classList.toggle("is-picked", look.isPicked);
  element.dataset.track = row.track ?? "";
  at(".pick input").checked = look.isPicked;
  at(".pick span").textContent = `Select: ${oneLine(row.subject)}`;
  at(".source use").setAttribute("href", `#i-${row.source in SOURCES ? row.source : "mail"}`);
  at(".source span").textContent = SOURCES[row.source] ?? oneLine(row.source, 20);
  at(".sender").textContent = oneLine(row.sender) || "(no sender)";
  at(".sender").title = oneLine(row.address);
  at(".subject").textContent = oneLine(row.subject) || "(no subject)";
  at(".preview").textContent = oneLine(row.preview, PREVIEW);
  at(".badges").replaceChildren(...badges(row, look));
  at(".track").textContent = LABELS[row.track] ?? "No track";
  at(".account").textContent = oneLine(row.account);
  at(".toggle").setAttribute("aria-expanded", String(look.isOpen));
  paintActs(at, row, look);
  paintAge(at(".age"), row.received_at, row);
}

function paintActs(at, row, look) {
  at('[data-act="draft"]').hidden = !row.replyable;
  at('[data-act="task"]').hidden = row.source === HUB;
  at('[data-act="task"] span').textContent = look.isTask ? "In tasks" : "Add to tasks";
  at('[data-act="task"]').ariaDisabled = String(look.isTask);
  at('[data-act="done"]').hidden = row.reason === "done";
  at('[data-act="back"]').hidden = !["done", "later"].includes(row.reason);
  at('[data-act="dismiss"]').hidden = Boolean(row.reason);
  for (const button of at(".acts").children) {
    button.title = `${button.textContent} (${button.getAttribute("aria-keyshortcuts")})`;
  }
}

function paintAge(element, iso, { ends_at = null, is_all_day = false } = {}) {
  element.dataset.at = iso;
  element.dataset.ends = ends_at ?? "";
  element.dataset.day = is_all_day ? "whole" : "";
  element.dateTime = iso;
  element.title = moment(iso);
  countAge(element);
}

function countAge(element) {
  const { at, ends, day } = element.dataset;
  const words = ends ? meetingTime(at, ends, day === "whole") : age(at);
  if (element.textContent === words) return;
  element.textContent = words;
  element.dataset.fresh = freshness(element.dataset.at);
}

/** Count every age on the page again, from the time in its data attribute. */
export function countAges() {
  for (const element of document.querySelectorAll("time[data-at]")) countAge(element);
}

/** An age that is counted again with all others. */
export function ageOf(iso) {
  const element = make("time", { className: "age" });
  paintAge(element, iso);
  return element;
}

/** "“subject”", to be put into a sentence: it is isolated from the words around it. */
export const quoted = (row) => isolated(`“${oneLine(row.subject, 80) || "(no subject)"}”`, 90);
