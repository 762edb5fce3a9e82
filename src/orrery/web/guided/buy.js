// <orrery-buy vendor cert>: a button that leads to the payment page of a product.
// What the owner wrote inside is for readers without this script: the shadow root takes its place.
{
  const API = "/guided/api/";
  const UNSOLD = ["not-configured", "not-preflighted"];
  const WORDS = {
    en: {
      buy: "Buy",
      named: "Buy {}",
      wait: "Opening the payment page…",
      none: "No answer came, and nothing was charged. Check your connection, then try again.",
      busy: "Too many attempts, and nothing was charged. Try again in {} min.",
      unsold: "This product is not sold here. Please write to the seller.",
      gone: "This product is not sold here, and nothing was charged. Please write to the seller.",
      away: "The payment page cannot be opened now, and nothing was charged. Try again in a few minutes.",
    },
    de: {
      buy: "Kaufen",
      named: "{} kaufen",
      wait: "Die Zahlungsseite wird geöffnet …",
      none: "Es kam keine Antwort, und es wurde nichts abgebucht. Prüfen Sie Ihre Verbindung, und versuchen Sie es noch einmal.",
      busy: "Zu viele Versuche; es wurde nichts abgebucht. Versuchen Sie es in {} min noch einmal.",
      unsold: "Dieses Produkt wird hier nicht verkauft. Bitte schreiben Sie dem Anbieter.",
      gone: "Dieses Produkt wird hier nicht verkauft; es wurde nichts abgebucht. Bitte schreiben Sie dem Anbieter.",
      away: "Die Zahlungsseite lässt sich gerade nicht öffnen; es wurde nichts abgebucht. Versuchen Sie es in einigen Minuten noch einmal.",
    },
  };

  // Nothing of the page's style gets in but what is inherited here; `all` leaves the direction alone.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
:host { display: inline-block; max-width: 100% }
:host([hidden]) { display: none !important }
div { all: initial; display: inline-block; max-width: 100%; color: inherit; color-scheme: inherit; font: var(--orrery-buy-font, inherit); line-height: 1.4 }
button {
  display: inline-flex; flex-wrap: wrap; align-items: center; justify-content: center; gap: 0 .6em; box-sizing: border-box;
  max-width: 100%; min-height: 2.75em; margin: 0; padding: .5em 1.25em; border: 1px solid transparent; font: inherit; cursor: pointer;
  overflow-wrap: anywhere; border-radius: var(--orrery-buy-radius, .5em);
  background: var(--orrery-buy-background, var(--o-accent, light-dark(#3f3ca6, #b3b5ff)));
  color: var(--orrery-buy-ink, var(--o-on-accent, light-dark(#fff, #14152e)));
}
button:focus-visible { outline-offset: 2px }
button[aria-disabled=true] { cursor: progress; opacity: .7 }
b:empty { display: none }
button, p { font-size: max(1em, 13px) }
p { margin: 0; max-width: 30em; overflow-wrap: anywhere }
p:not(:empty) { margin-top: .5em }
@media (forced-colors: active) { button[aria-disabled=true] { opacity: 1; color: GrayText; border-color: GrayText } }`);

  // Not crypto.randomUUID, which exists on https and localhost only.
  const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

  // One question for all buttons of a page; one that failed is asked again by the next.
  let asked;
  const products = () =>
    (asked ??= fetch(API + "products")
      .then((answer) => (answer.ok ? answer.json() : Promise.reject()))
      .catch(() => {
        asked = undefined;
        return [];
      }));

  class OrreryBuy extends HTMLElement {
    static observedAttributes = ["vendor", "cert", "label", "lang"];
    products = [];
    said = "";

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet];
      const made = ["div", "button", "span", "b", "p"].map((tag) => document.createElement(tag));
      const [box, button, label, price, status] = made;
      Object.assign(this, { box, button, label, price, status });
      for (const part of ["button", "label", "price", "status"]) this[part].part = part;
      for (const text of [label, status]) text.dir = "auto";
      button.type = "button";
      status.role = "status";
      button.append(label, " ", price);
      box.append(button, status);
      root.append(box);
      button.addEventListener("click", () => this.buy());
    }

    async connectedCallback() {
      addEventListener("pageshow", this);
      this.show();
      this.products = await products();
      this.show();
    }

    disconnectedCallback() {
      removeEventListener("pageshow", this);
    }

    attributeChangedCallback(name) {
      // What is on its way is about another product.
      if (name == "vendor" || name == "cert") this.beReady();
      this.show();
    }

    // The Back button may bring the page as it was left: waiting.
    handleEvent(event) {
      if (event.persisted) this.beReady();
    }

    beReady() {
      this.key = this.order = undefined;
      this.say("");
    }

    // Attributes, or else the fields of the form inside.
    get product() {
      const field = (name) => this.querySelector(`[name=${name}]`)?.value;
      return {
        productType: "cert",
        certCode: this.getAttribute("cert") ?? field("certCode"),
        vendorSlug: this.getAttribute("vendor") ?? field("vendorSlug"),
      };
    }

    say(said, minutes) {
      this.said = said;
      this.minutes = minutes;
      this.show();
    }

    show() {
      const inherited = this.closest("[lang]") ?? document.documentElement;
      const lang = /^de\b/i.test(inherited.lang) ? "de" : "en";
      const words = WORDS[lang];
      const { vendorSlug, certCode } = this.product;
      const known = this.products.find((one) => one.vendor == vendorSlug && one.cert == certCode);
      const own = this.querySelector("button, [type=submit]");
      const label = this.getAttribute("label");
      this.box.lang = lang;
      this.label.textContent =
        label ?? (known?.title ? words.named.replace("{}", () => known.title) : own?.textContent.trim() || own?.value || words.buy);
      this.price.textContent = known?.currency ? money(known, lang) : "";
      // The owner's words need not name the product.
      this.button.ariaLabel = label && known ? `${label} ${this.price.textContent}, ${known.title}` : null;
      this.button.ariaDisabled = this.said == "wait";
      this.status.textContent = (words[this.said || (known?.sold == false && "unsold")] ?? "").replace("{}", this.minutes);
    }

    async buy() {
      if (this.order) return;
      const order = (this.order = {});
      this.key ??= newKey();
      this.say("wait");
      const { url, said, minutes, over } = await this.ask();
      if (order != this.order) return;
      if (over) this.key = undefined;
      if (url && this.isConnected) {
        location.assign(url);
        // Where the payment page does not come, the next click leads to the same session by the same key.
        await new Promise((resolve) => setTimeout(resolve, 1e4));
        if (order != this.order) return;
      }
      this.order = undefined;
      this.say(said, minutes);
    }

    async ask() {
      try {
        const answer = await fetch(API + "checkout", {
          method: "POST",
          headers: { "Content-Type": "application/json", "Idempotency-Key": this.key },
          body: JSON.stringify(this.product),
          signal: AbortSignal.timeout(3e4),
        });
        if (answer.ok) return await answer.json();
        // A web server in front may answer without JSON.
        const { error } = await answer.json().catch(() => ({}));
        return {
          said: UNSOLD.includes(error) ? "gone" : ({ 404: "gone", 429: "busy" }[answer.status] ?? "away"),
          minutes: Math.ceil(answer.headers.get("Retry-After") / 60) || 1,
          // After a failure the next click is the same intent; after a refusal it is another one.
          over: answer.status < 500,
        };
      } catch {
        return { said: "none" };
      }
    }
  }

  // Not the digits that the browser knows: it rounds away the smaller unit of some currencies.
  const money = ({ price, currency, decimals }, lang) =>
    new Intl.NumberFormat(lang, {
      style: "currency",
      currency,
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    }).format(price / 10 ** decimals);

  customElements.get("orrery-buy") ?? customElements.define("orrery-buy", OrreryBuy);
}
