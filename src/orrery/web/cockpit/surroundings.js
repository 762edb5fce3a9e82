// What is around the rows: the mailboxes' state, the filters, and the health panel.
import { ageOf } from "./row.js";
import { read } from "./server.js";
import { counted, isolated, LABELS, make, number, oneLine, TRACKS } from "./words.js";

const STATES = {
  loading: "Being read",
  fresh: "Fresh",
  stale: "Stale",
  failed: "Failed",
  "sign-in-needed": "Sign-in needed",
};
const strip = document.getElementById("mailboxes");
const health = document.getElementById("health");
const dialog = document.getElementById("health-dialog");
const findings = document.getElementById("findings");

function track(mailbox) {
  const known = LABELS[mailbox.track];
  return known ? make("span", { className: "track", textContent: known }) : "";
}

function line(mailbox) {
  const state = make("span", { className: "state", textContent: STATES[mailbox.state] ?? oneLine(mailbox.state, 30) });
  const why = [mailbox.why && oneLine(mailbox.why)];
  if (mailbox.unreadable) why.push(`${counted(mailbox.unreadable, "message")} cannot be read.`);
  if (mailbox.caution) why.push(oneLine(mailbox.caution));
  const parts = [state, " ", track(mailbox), " ", isolated(mailbox.account), " "];
  const isLoading = mailbox.state === "loading";
  if (isLoading && mailbox.count) parts.push(make("span", { className: "soft" }, `${counted(mailbox.count, "row")} so far`), " ");
  else if (mailbox.at && !isLoading) parts.push(make("span", { className: "soft" }, "read ", ageOf(mailbox.at)), " ");
  const words = why.filter(Boolean).join(" ");
  if (words) parts.push(make("span", { className: "why", dir: "auto", textContent: words }));
  if (mailbox.signs_in && mailbox.state === "sign-in-needed") parts.push(" ", signInButton(mailbox.account));
  const item = make("li", { className: `mailbox ${mailbox.state in STATES ? mailbox.state : ""}` }, ...parts);
  item.dataset.track = mailbox.track ?? "";
  return item;
}

function signInButton(account) {
  const button = make("button", { type: "button", className: "sign-in", textContent: "Sign in" });
  button.ariaLabel = `Sign in as ${account}`;
  button.dataset.account = account;
  return button;
}

/** Show each mailbox that is not fresh with its reason, and the others folded away. */
export function showMailboxes(mailboxes) {
  const key = JSON.stringify(mailboxes);
  if (strip.dataset.key === key) return;
  strip.dataset.key = key;
  const wasOpen = strip.querySelector("details")?.open ?? false;
  const [well, other] = [true, false].map((isWell) =>
    mailboxes.filter((one) => (one.state === "fresh" && !one.unreadable) === isWell).map(line),
  );
  const shown = other.length ? [make("ul", {}, ...other)] : [];
  if (well.length) {
    const words = other.length ? `${counted(well.length, "mailbox", "mailboxes")} fresh` : "All mailboxes are fresh";
    shown.push(make("details", { open: wasOpen }, make("summary", { textContent: words }), make("ul", {}, ...well)));
  }
  strip.replaceChildren(...shown);
}

/** Make one button for each of `names`, which puts it into `chosen` or takes it out. */
export function makeChips(group, names, chosen, changed) {
  for (const [key, words] of Object.entries(names)) {
    const chip = make("button", { type: "button", className: "chip" }, words, " ", make("span", { className: "figure" }));
    chip.dataset.key = key;
    chip.addEventListener("click", () => {
      if (!chosen.delete(key)) chosen.add(key);
      changed();
    });
    document.getElementById(group).append(chip);
  }
}

export function showChips(board, open) {
  for (const [group, chosen, part] of [["sources", board.sources, "source"], ["tracks", board.tracks, "track"]]) {
    for (const chip of document.getElementById(group).children) {
      chip.ariaPressed = String(chosen.has(chip.dataset.key));
      const count = open.filter((row) => row[part] === chip.dataset.key).length;
      chip.querySelector(".figure").textContent = number(count);
    }
  }
}

function finding({ part, state, why, todo }) {
  const heading = make("h3", {}, make("span", { className: "state", textContent: state }), " ", isolated(part));
  const texts = [why, todo].filter(Boolean).map((text) => make("p", { dir: "auto", textContent: oneLine(text, 1000) }));
  return make("section", { className: `finding ${state === "broken" ? "broken" : ""}` }, heading, ...texts);
}

/** Read the health, and show on the button whether something is broken. */
export async function readHealth() {
  try {
    const answer = await read("/api/health");
    const rank = (one) => ["broken", "off", "ok"].indexOf(one.state);
    const sorted = [...answer.findings].sort((one, other) => rank(one) - rank(other));
    const broken = sorted.filter((one) => one.state === "broken").length;
    health.classList.toggle("broken", broken > 0);
    health.querySelector(".words").textContent = broken ? `${broken} broken` : "";
    health.ariaLabel = broken ? `Health: ${broken} broken` : "Health";
    findings.replaceChildren(...sorted.map(finding), make("p", { className: "soft" }, "Looked at ", ageOf(answer.at), "."));
  } catch (error) {
    findings.replaceChildren(make("p", { className: "fault", textContent: `The health cannot be read. ${error.message}` }));
  }
}

export function makeHealth() {
  health.addEventListener("click", async () => {
    dialog.showModal();
    await readHealth();
  });
}
