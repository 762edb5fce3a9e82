// What the page reports: the line at the foot, the banners on top, and the state instead of rows.
import { make } from "./words.js";

const report = document.getElementById("report");
const banners = document.getElementById("notices");
const state = document.getElementById("state");

/** Show what happened: words, or words and elements. */
export function announce(...words) {
  report.replaceChildren(...words.filter(Boolean));
}

/** Show a banner, or write a new sentence into it. `button` is its words and what it does. */
export function showBanner(name, words, button = null, tone = "warn") {
  const banner = document.getElementById(`banner-${name}`) ?? make("div", { id: `banner-${name}` });
  if (banner.isConnected && banner.dataset.words === words) return;
  banner.className = `banner ${tone}`;
  banner.dataset.words = words;
  banner.setAttribute("role", "alert");
  const act = button && make("button", { type: "button", textContent: button.words, onclick: button.act });
  banner.replaceChildren(make("p", { textContent: words }), act ?? "");
  banners.append(banner);
}

export function hideBanner(name) {
  document.getElementById(`banner-${name}`)?.remove();
}

/** Show a state in place of the rows, or nothing of it. */
export function showState(kind, title = "", words = "", button = null) {
  const key = JSON.stringify([kind, title, words]);
  state.hidden = kind === "";
  if (state.dataset.key === key) return;
  state.dataset.key = key;
  state.className = `plate ${kind}`;
  const act = button && make("button", { type: "button", textContent: button.words, onclick: button.act });
  state.replaceChildren(make("h2", { textContent: title }), words && make("p", { textContent: words }), act ?? "");
}
