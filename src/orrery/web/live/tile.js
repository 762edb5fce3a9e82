// <live-tile>: how many people were here in the last minutes and on which pages, or in words why that is not known.
import { lately, now, pollerOf, whole } from "./pill.js";

const STALE = 180;
const ROWS = 10;
const NUMBERS = new Intl.NumberFormat();
const AGES = new Intl.RelativeTimeFormat("en");
export const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

const WHY = {
  "no-data": "The counter has not been filled yet.",
  "data-too-stale": "The last count is over 30 minutes old.",
  "kv-not-bound": "The store cannot be reached.",
};
const NONSENSE = "The counter gave an answer that makes no sense.";
const TOO_OLD = WHY["data-too-stale"];

export const STYLE = `
:host {
  display: block;
  color: var(--live-tile-ink, var(--o-ink, light-dark(#191b2b, #eeedf5)));
  font: var(--live-tile-font, 1rem/1.5 var(--o-font, system-ui, sans-serif));
  --soft: var(--live-tile-soft, var(--o-ink-soft, light-dark(#54576b, #abaec5)));
  --accent: var(--live-tile-accent, var(--o-accent, light-dark(#3f3ca6, #b3b5ff)));
  --line: var(--live-tile-line, var(--o-line, light-dark(#dedbd1, #2b2f45)));
}
:host([hidden]), [hidden] { display: none !important }
* { box-sizing: border-box; margin: 0 }
section {
  display: grid; gap: 1.25rem; padding: clamp(1rem, 4vw, 1.75rem);
  border: 1px solid var(--line); border-radius: var(--live-tile-radius, var(--o-radius-l, 1.25rem));
  background: var(--live-tile-background, var(--o-surface, light-dark(#fff, #171a29)));
}
header { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .25rem 1rem }
h2 { font-size: 1.1875rem; line-height: 1.3; letter-spacing: -.01em }
.soft { color: var(--soft); font-size: .875rem }
.count { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; color: var(--soft) }
.count b {
  color: var(--live-tile-ink, var(--o-ink, light-dark(#191b2b, #eeedf5)));
  font-size: clamp(2.75rem, 2rem + 4vw, 4rem); font-weight: 700; line-height: 1; letter-spacing: -.04em;
  font-variant-numeric: tabular-nums;
}
.why {
  padding: .6rem .9rem; border-radius: .75rem; font-size: .9375rem;
  background: var(--o-warn-soft, light-dark(#fcf0da, #33260e)); color: var(--o-warn, light-dark(#7a4a00, #f2c069));
}
.why:empty { position: absolute; padding: 0 }
div:empty { display: none }
table { width: 100%; border-collapse: collapse; table-layout: fixed }
caption { padding-bottom: .25rem; font-weight: 650; text-align: start }
th, td { padding: .45rem 0; border-top: 1px solid var(--line); text-align: start; font-weight: 400; overflow-wrap: anywhere }
thead th { border: 0; padding-top: 0; color: var(--soft); font-size: .875rem }
tbody th { padding-inline-end: 1rem }
th:first-child { width: 55% }
.share { display: flex; align-items: center; gap: .6rem; font-variant-numeric: tabular-nums }
.bar {
  width: calc(var(--share) * (100% - 4.5ch)); min-width: 3px; height: .7rem; border-radius: .2rem;
  background: var(--accent); transition: width .4s; forced-color-adjust: none;
}
a { color: var(--accent); text-underline-offset: .2em }
:focus-visible { outline: var(--o-focus-ring, 3px solid var(--accent)); outline-offset: var(--o-focus-gap, 3px); border-radius: .375rem }
@media (prefers-reduced-motion) { .bar { transition: none } }`;

/** Make an element with properties and children; text is text, never markup. */
export function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Give an element its shadow with styles that a strict content security policy allows. */
export function dress(host, style, ...children) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  root.append(...children);
  return root;
}

/** Write where the text differs, so that a live region is not announced twice. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** An age in seconds in words, as "20 seconds ago". */
export function ago(seconds) {
  if (seconds < 1) return "just now";
  if (seconds < 60) return AGES.format(-Math.floor(seconds), "second");
  if (seconds < 3600) return AGES.format(-Math.floor(seconds / 60), "minute");
  return AGES.format(-Math.floor(seconds / 3600), "hour");
}

export const figure = (count) => (isNaN(count) ? "–" : NUMBERS.format(count));

/** The count in words beside its figure. */
export function people(count, minutes) {
  if (isNaN(count)) return "not known";
  return `${count === 1 ? "person" : "people"}${lately(minutes)}`;
}

/** A table of names and people, whose figures have bars beside them. */
export function chart(caption, kind, rows) {
  const most = Math.max(...rows.map((row) => row.users), 1);
  const head = make("tr", {}, make("th", { scope: "col" }, kind), make("th", { scope: "col" }, "People"));
  const lines = rows.map(({ name, path, users }) => {
    const bar = make("span", { className: "bar" });
    bar.style.setProperty("--share", users / most);
    const label = path ? make("a", { href: path }, name) : name;
    const share = make("div", { className: "share" }, bar, make("span", {}, NUMBERS.format(users)));
    return make("tr", {}, make("th", { scope: "row" }, label), make("td", {}, share));
  });
  return make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...lines));
}

/** The address of a path of that site; nothing when the path leads elsewhere or no site is known. */
function pageOf(path, site) {
  if (typeof path !== "string" || !path.startsWith("/") || !URL.canParse(path, site)) return null;
  const url = new URL(path, site);
  if (url.origin !== new URL(site).origin) return null;
  return url.origin === location.origin ? url.pathname + url.search + url.hash : url.href;
}

function readPages(body, site) {
  const pages = Array.isArray(body?.pages) ? body.pages : [];
  return pages
    .map((row) => ({ name: row?.page, path: pageOf(row?.path, site), users: whole(row?.users) }))
    .filter(({ name, users }) => typeof name === "string" && users >= 0)
    .map((row) => ({ ...row, name: row.name.trim() || "(no title)" }));
}

class LiveTile extends HTMLElement {
  static observedAttributes = ["src", "site"];

  #age = make("time", { className: "soft" });
  #count = make("b");
  #people = make("span");
  #why = make("p", { className: "why", role: "status" });
  #pages = make("div");
  #root;
  #drawn = "";
  #failing = null;

  constructor() {
    super();
    const header = make("header", {}, make("h2", { id: "title" }, "Live"), this.#age);
    const count = make("p", { className: "count" }, this.#count, " ", this.#people);
    const section = make("section", {}, header, count, this.#why, this.#pages);
    section.setAttribute("aria-labelledby", "title");
    this.#root = dress(this, STYLE, section);
  }

  connectedCallback() {
    this.poller = pollerOf(this.getAttribute("src") ?? new URL("/api/stats?realtime=1", import.meta.url).href);
    this.poller.readers.add(this);
    this.show();
    this.poller.beat();
  }

  disconnectedCallback() {
    this.poller?.readers.delete(this);
  }

  attributeChangedCallback() {
    this.disconnectedCallback();
    if (this.isConnected) this.connectedCallback();
  }

  /** Show what is known now; the poller calls this every second. */
  show() {
    const { known, body, trouble, minutes } = this.poller;
    this.#failing = trouble === "unreachable" ? (this.#failing ?? new Date()) : null;
    write(this.#count, figure(known));
    write(this.#people, body || trouble ? people(known, minutes) : "asking…");
    write(this.#age, this.#ageInWords());
    if (body) this.#age.dateTime = body.generated_at;
    write(this.#why, this.#reason());
    this.#showPages(known > 0 ? readPages(body, this.#site) : [], known);
  }

  /** The site whose pages are listed: the one that is named, else this one if it serves the count itself. */
  get #site() {
    const { origin } = new URL(this.poller.src, document.baseURI);
    return this.getAttribute("site") ?? (origin === location.origin ? origin : undefined);
  }

  /** When the pages were counted, if that was not when the total was. */
  #pagesAge() {
    const { body } = this.poller;
    const older = Date.parse(body.generated_at) - Date.parse(body.pages_generated_at);
    return older ? `, counted ${ago(this.#seconds() + older / 1000)}` : "";
  }

  #seconds() {
    return (now() - this.poller.born) / 1000;
  }

  #ageInWords() {
    const seconds = this.#seconds();
    if (isNaN(seconds)) return "";
    return `${isNaN(this.poller.known) ? "Last counted" : "Counted"} ${ago(seconds)}`;
  }

  #reason() {
    const { known, trouble, body } = this.poller;
    if (!trouble && !body) return "";
    if (!trouble) return isNaN(known) ? TOO_OLD : this.#seconds() < STALE ? "" : "Newer counts are late.";
    const since = this.#failing && `The counter cannot be reached since ${CLOCK.format(this.#failing)}.`;
    const why = since ?? (Object.hasOwn(WHY, trouble) ? WHY[trouble] : NONSENSE);
    if (known >= 0) return `${why} This is the last count that came.`;
    return body && why !== TOO_OLD ? `${why} ${TOO_OLD}` : why;
  }

  /** Draw the pages again when they changed, but never under a reader who is about to follow a link. */
  #showPages(rows, known) {
    const caption = rows.length ? `Top pages${this.#pagesAge()}` : "";
    const drawing = JSON.stringify([rows, known > 0, caption]);
    if (drawing === this.#drawn || this.#root.activeElement) return;
    this.#drawn = drawing;
    const note = (text) => make("p", { className: "soft" }, text);
    const shown = rows.length ? [chart(caption, "Page", rows.slice(0, ROWS))] : [];
    if (rows.length > ROWS) shown.push(note("More pages are not shown."));
    if (known > 0 && !rows.length) shown.push(note("Which pages they are on is not known."));
    this.#pages.replaceChildren(...shown);
  }
}

customElements.get("live-tile") ?? customElements.define("live-tile", LiveTile);
