// <live-pill>: how many people were here in the last minutes
const MIN_VISIBLE = 1;
const INTERVAL = 45;

const CSS = `
:host([hidden]) { display: none !important }
div {
  display: inline-flex; align-items: center; gap: .4em; padding: .3em .8em; white-space: nowrap;
  background: var(--live-pill-background, var(--o-good-soft, #2942)); border-radius: var(--live-pill-radius, 9em);
  color: var(--live-pill-ink, var(--o-ink, inherit)); font: var(--live-pill-font, inherit);
}
i { border: .28em solid var(--live-pill-dot, var(--o-good, #294)); border-radius: 9em; animation: pulse 2s infinite }
@keyframes pulse { 50% { opacity: .3 } }
@media (prefers-reduced-motion) { i { animation: none } }
:host([variant]) div { white-space: normal }
:host([variant]) b { font-size: 1.6em; line-height: 1 }`;

// A clock that goes on in sleep and never back.
let ahead = 0;
export const now = () => performance.now() + (ahead = Math.max(ahead, Date.now() - performance.now()));

export const whole = (value) => (typeof value != "object" && /^\d{1,15}$/.test(value) ? +value : NaN);

export const lately = (minutes) => " in the last " + (minutes > 1 ? minutes + " minutes" : "minute");

const pollers = {};
export const pollerOf = (src) => (pollers[src] ??= Object.assign(new Poller(), { src }));

// Asks one address for all its readers, one question at a time.
class Poller {
  readers = new Set();
  asked = 0;

  get known() {
    // Half an hour.
    return now() - this.born < 18e5 ? this.count : NaN;
  }

  get minutes() {
    return whole(this.body?.window_minutes) || 30;
  }

  beat(pause = Math.min(...Array.from(this.readers, (reader) => +reader.getAttribute("interval") || INTERVAL))) {
    pause = Math.max(pause, 5);
    clearTimeout(this.timer);
    if (document.hidden || !this.readers.size) return;
    this.timer = setTimeout(() => this.beat(), 1e3);
    if (now() - this.asked >= pause * 1e3) this.ask();
    this.readers.forEach((reader) => reader.show());
  }

  async ask() {
    const asked = now();
    this.asked = Infinity;
    let trouble = "unreachable";
    try {
      const answer = await fetch(this.src, { cache: "no-store", signal: AbortSignal.timeout(1e4) });
      if (answer.ok) trouble = this.take(await answer.json(), asked, answer.headers);
    } catch {}
    Object.assign(this, { asked, trouble });
    this.beat();
  }

  // The age goes by the server's clocks: the device's may be wrong.
  take(body, asked, headers) {
    const count = whole(body.totalUnique ?? body.active);
    const made = Date.parse(body.generated_at);
    const age = Date.parse(headers.get("date")) + headers.get("age") * 1e3 - made || 0;
    const born = asked - Math.max(body.age_s * 1e3, age);
    // The held value is at least as old as the newest value, which even an answer with an error gives.
    if (made >= this.made && born < this.born) this.born = born;
    if (body.error || !(count + made && parseFloat(body.age_s) >= 0)) return body.error || "unknown";
    // From a cache that is behind.
    if (made < this.made && this.known >= 0) return;
    Object.assign(this, { body, count, made, born: made == this.made ? this.born : born });
  }
}

for (const event of ["visibilitychange", "online"])
  addEventListener(event, () => {
    for (const src in pollers) pollers[src].beat(5);
  });

class LivePill extends HTMLElement {
  static observedAttributes = ["src", "min-visible", "label"];

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
    root.adoptedStyleSheets = [sheet];
    const [pill, dot, number, label] = ["div", "i", "b", "span"].map((tag) => document.createElement(tag));
    Object.assign(this, { pill, number, label });
    pill.role = "status";
    pill.append(dot, number, label);
    root.append(pill);
  }

  connectedCallback() {
    this.poller?.readers.delete(this);
    if (!this.isConnected) return;
    this.poller = pollerOf(this.getAttribute("src") ?? new URL("/api/stats?realtime=cosmos", import.meta.url));
    this.poller.readers.add(this);
    this.show();
    this.poller.beat();
  }

  disconnectedCallback() {
    this.connectedCallback();
  }

  attributeChangedCallback() {
    this.connectedCallback();
  }

  show() {
    const { known: count, minutes, body } = this.poller;
    const number = count.toLocaleString();
    const label = " " + (this.getAttribute("label") ?? (minutes > 5 ? "live" : "live now"));
    const least = whole(this.getAttribute("min-visible"));
    const shown = count >= Math.max(1, least >= 0 ? least : MIN_VISIBLE);
    this.pill.title = this.pill.ariaLabel = number + lately(minutes) + (body?.scope ? " on all sites" : "");
    if (shown && this.pill.textContent != number + label) {
      // Read out at most once a minute.
      const quiet = now() - this.announced < 6e4;
      this.pill.ariaLive = quiet ? "off" : "polite";
      if (!quiet) this.announced = now();
      this.number.textContent = number;
      this.label.textContent = label;
    }
    this.hidden = !shown;
  }
}
customElements.get("live-pill") ?? customElements.define("live-pill", LivePill);
