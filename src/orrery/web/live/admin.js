// <live-admin>: the count by planet, for the owner, who gives the admin password. It is kept in memory only.
import { lately, now, whole } from "./pill.js";
import { ago, chart, CLOCK, dress, figure, make, people, STYLE, write } from "./tile.js";

const SECOND = 1000;
const DEADLINE = 25 * SECOND;
const PAUSE = 300 * SECOND; // each question costs quota
const TOO_OLD = 1800 * SECOND;
const NO_HEADER = /[^\x20-\x7e]/;

const WORDS = {
  Unauthorized: "That is not the admin password.",
  "quota-exhausted": "The analytics quota is used up. It refills by itself, so please come back later.",
  "no-auth": "The service has no key for the analytics provider.",
  "no-provider-auth": "The service has no key for the analytics provider.",
  "no-data": "The counter has not been filled yet.",
  "data-too-stale": "The last count is over 30 minutes old.",
  "kv-not-bound": "The store cannot be reached.",
  unreachable: "The service cannot be reached just now.",
};

const ADMIN_STYLE = `${STYLE}
form { display: grid; grid-template-columns: minmax(0, 22rem) auto; justify-content: start; gap: .5rem .75rem }
label { grid-column: 1 / -1; font-weight: 650 }
input {
  min-width: 0; min-height: 2.75rem; padding: .5rem .75rem; border-radius: .75rem;
  border: 1px solid var(--o-line-strong, light-dark(#85848c, #7479a0));
  background: var(--o-page, light-dark(#f8f7f3, #0e101b)); color: inherit; font: inherit;
}
button {
  min-height: 2.75rem; padding: .5rem 1.1rem; border: 1px solid transparent; border-radius: .75rem; cursor: pointer;
  background: var(--accent); color: var(--o-on-accent, light-dark(#fff, #14152e)); font: inherit; font-weight: 650;
}
button.quiet { border-color: var(--o-line-strong, light-dark(#85848c, #7479a0)); background: transparent; color: inherit }
button:hover { filter: brightness(1.1) }
button[aria-disabled="true"] { cursor: progress }
.panel { display: grid; gap: 1.25rem }
.actions { display: flex; flex-wrap: wrap; gap: .75rem }
.why.fine { background: var(--o-good-soft, light-dark(#e3f3e8, #14301f)); color: var(--o-good, light-dark(#156038, #86dba6)) }
@media (max-width: 30rem) { form { grid-template-columns: minmax(0, 1fr) } .actions button { flex: 1 0 auto } }`;

function inWords({ error, message }) {
  if (Object.hasOwn(WORDS, error)) return WORDS[error];
  return typeof message === "string" ? message : `The service answers: ${error}.`;
}

function refreshed({ active, pages_count: pages }) {
  const count = whole(active);
  const counted = `Refreshed: ${figure(count)} ${count === 1 ? "person" : "people"}`;
  return pages === null ? `${counted}; pages were not counted this time.` : `${counted}, ${figure(whole(pages))} pages.`;
}

/** Ask with the password; an answer that cannot be read is the error `unreachable`. */
async function ask(method, url, password) {
  try {
    const headers = { Authorization: `Bearer ${password}` };
    const answer = await fetch(url, { method, headers, cache: "no-store", signal: AbortSignal.timeout(DEADLINE) });
    const body = await answer.json();
    const error = answer.status === 401 ? "Unauthorized" : (body.error ?? (answer.ok ? undefined : "unreachable"));
    return { ...body, error };
  } catch {
    return { error: "unreachable" };
  }
}

function readPlanets({ byPlanet }) {
  if (!Array.isArray(byPlanet)) return null;
  const rows = byPlanet.map((row) => ({ name: String(row?.planet ?? "").trim() || "(not set)", users: whole(row?.users) }));
  return rows.filter(({ users }) => users >= 0);
}

class LiveAdmin extends HTMLElement {
  static observedAttributes = ["src"];

  #password = "";
  #asked = 0;
  #count = NaN;
  #minutes = 30;
  #born = NaN;
  #charted = NaN;
  #busy = false;
  #timer;
  #age = make("span", { className: "soft" });
  #input = make("input", { id: "password", type: "password", required: true, autocomplete: "current-password" });
  #submit = make("button", {}, "Open");
  #form = make("form", {}, make("label", { htmlFor: "password" }, "Admin password"), this.#input, this.#submit);
  #number = make("b");
  #people = make("span");
  #chart = make("div");
  #refresh = make("button", { type: "button" }, "Refresh now");
  #forget = make("button", { type: "button", className: "quiet" }, "Forget the password");
  #panel = make(
    "div",
    { className: "panel", hidden: true },
    make("p", { className: "count" }, this.#number, " ", this.#people),
    this.#chart,
    make("p", { className: "actions" }, this.#refresh, this.#forget),
  );
  #report = make("p", { className: "why", role: "status" });

  constructor() {
    super();
    const header = make("header", {}, make("h2", { id: "title" }, "Live, by planet"), this.#age);
    const section = make("section", {}, header, this.#form, this.#report, this.#panel);
    section.setAttribute("aria-labelledby", "title");
    dress(this, ADMIN_STYLE, section);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#open();
    });
    this.#refresh.addEventListener("click", () => this.#one(() => this.#refreshNow()));
    this.#forget.addEventListener("click", () => this.#lock(""));
  }

  connectedCallback() {
    this.#timer = setInterval(() => this.#tick(), SECOND);
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
    this.#lock("");
  }

  attributeChangedCallback() {
    this.#lock(""); // the password was for the other address
  }

  get #intel() {
    const src = this.getAttribute("src") ?? new URL("/api/stats?realtime=cosmos&intel=1", import.meta.url);
    return new URL(src, document.baseURI);
  }

  #open() {
    if (this.#busy) return;
    this.#password = this.#input.value;
    if (NO_HEADER.test(this.#password)) this.#lock(WORDS.Unauthorized);
    else this.#one(() => this.#look());
  }

  #tick() {
    this.#draw();
    const due = now() - this.#asked >= PAUSE;
    if (due && !this.#panel.hidden && !document.hidden) this.#one(() => this.#look());
  }

  /** Do one thing at a time, and show the result. */
  async #one(action) {
    if (this.#busy) return;
    this.#setBusy(true);
    await action();
    this.#setBusy(false);
  }

  #setBusy(busy) {
    this.#busy = busy;
    this.#refresh.ariaDisabled = this.#submit.ariaDisabled = busy;
    write(this.#refresh, busy ? "Asking…" : "Refresh now");
    write(this.#submit, busy ? "Asking…" : "Open");
  }

  async #look(before = "") {
    this.#asked = now();
    const answer = await this.#ask("GET", this.#intel);
    if (!answer) return;
    this.#take(answer);
    this.#announce(answer.error ? inWords(answer) : before, !answer.error);
    if (this.#panel.hidden && "totalUnique" in answer) this.#unlock();
  }

  async #refreshNow() {
    const answer = await this.#ask("POST", new URL("?refresh=realtime", this.#intel));
    if (answer?.ok === true) await this.#look(refreshed(answer));
    else if (answer) this.#announce(inWords(answer));
  }

  /** Return the answer, or nothing when the password was refused or given up meanwhile. */
  async #ask(method, url) {
    const password = this.#password;
    const answer = await ask(method, url, password);
    if (password !== this.#password) return null;
    return answer.error === "Unauthorized" ? this.#lock(WORDS.Unauthorized) : answer;
  }

  /** Keep what is known; what an answer does not know leaves the last good values alone. */
  #take(answer) {
    const count = whole(answer.totalUnique);
    this.#minutes = whole(answer.window_minutes) || this.#minutes;
    const age = typeof answer.age_s === "number" ? answer.age_s * SECOND : NaN;
    if (age >= 0 && age <= TOO_OLD && count >= 0) [this.#count, this.#born] = [count, now() - age];
    const rows = readPlanets(answer);
    if (rows) this.#showPlanets(rows);
    this.#draw();
  }

  #showPlanets(rows) {
    this.#charted = now();
    const caption = `People by planet${lately(this.#minutes)}, at ${CLOCK.format(new Date())}`;
    const none = make("p", { className: "soft" }, `There were no visitors on any planet${lately(this.#minutes)}.`);
    this.#chart.replaceChildren(rows.length ? chart(caption, "Planet", rows) : none);
  }

  #draw() {
    const age = now() - this.#born;
    const known = age <= TOO_OLD ? this.#count : NaN;
    write(this.#number, figure(known));
    write(this.#people, people(known, this.#minutes));
    write(this.#age, this.#panel.hidden || isNaN(age) ? "" : `Counted ${ago(age / SECOND)}`);
    if (now() - this.#charted > TOO_OLD) this.#chart.replaceChildren();
  }

  #announce(words, fine = false) {
    this.#report.classList.toggle("fine", fine);
    write(this.#report, words);
  }

  #unlock() {
    const here = this.matches(":focus-within");
    this.#input.value = "";
    this.#form.hidden = true;
    this.#panel.hidden = false;
    this.#draw();
    if (here) this.#refresh.focus();
  }

  #lock(words) {
    const here = this.matches(":focus-within");
    this.#password = this.#input.value = "";
    [this.#count, this.#born, this.#charted] = [NaN, NaN, NaN];
    this.#chart.replaceChildren();
    this.#panel.hidden = true;
    this.#form.hidden = false;
    this.#announce(words);
    this.#draw();
    if (here) this.#input.focus();
    return null;
  }
}

customElements.get("live-admin") ?? customElements.define("live-admin", LiveAdmin);
