// A row that is expanded: who wrote it to whom, and its text, read once and shown as plain text.
import { person, readHead, recipients, warnings } from "./head.js";
import { readText } from "./server.js";
import { linkTo, make, manyLines, moment, number } from "./words.js";

const BODY = "/api/comms/message-body?messageId=";
const LONGEST = 20_000;
const LABELLED = /^(\[track:[AB]\]\n)?([^]*)$/;

export class Opened {
  #list;
  #texts = new Map();

  constructor(list) {
    this.#list = list;
  }

  toggle(row) {
    if (this.#list.opened.has(row.id)) this.close(row);
    else this.open(row);
  }

  close(row) {
    this.#list.opened.delete(row.id);
    const node = this.#list.node(row);
    const body = node?.querySelector(".body");
    if (body?.contains(document.activeElement)) node.focus({ preventScroll: true });
    body?.remove();
    this.#list.touch(row);
  }

  async open(row) {
    this.#list.opened.add(row.id);
    this.#list.touch(row);
    const text = make("div", { className: "text", dir: "auto", textContent: "Reading the text…" });
    const from = make("p", {}, "From ", ...person({ name: row.sender, address: row.address }), `, ${moment(row.received_at)}`);
    const link = linkTo(row.web_link, "Open in the mailbox");
    if (link) from.append(" ", link);
    const facts = make("div", { className: "facts" }, from);
    const body = make("div", { className: "body" }, facts, text);
    this.#list.node(row).querySelector(".below").append(body);
    await Promise.all([this.#fill(row, text), this.#name(row, facts)]);
  }

  /** Name whom a message went to, and what to look at about who wrote it. */
  async #name(row, facts) {
    try {
      const head = await readHead(row);
      facts.append(...recipients(head), warnings(head.warnings));
    } catch (error) {
      facts.append(make("p", { className: "fault", textContent: `Whom it went to cannot be shown. ${error.message}` }));
    }
  }

  async #fill(row, text) {
    text.setAttribute("aria-busy", "true");
    try {
      const whole = this.#texts.get(row.id) ?? (await readText(BODY + encodeURIComponent(row.id)));
      this.#texts.set(row.id, whole);
      this.#write(text, manyLines(whole));
    } catch (error) {
      const again = make("button", { type: "button", className: "plain", textContent: "Try again" });
      again.addEventListener("click", () => {
        text.textContent = "Reading the text…";
        this.#fill(row, text);
      });
      const words = `The text cannot be shown. ${error.message}`;
      text.replaceChildren(make("p", { className: "fault", textContent: words }), again);
    }
    text.removeAttribute("aria-busy");
    this.#list.settle(row);
  }

  #write(text, answer) {
    const [, label = "", whole] = LABELLED.exec(answer);
    const shown = whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole || "This message has no text.";
    const first = label ? make("span", { className: "soft", textContent: label }) : "";
    text.replaceChildren(first, shown);
    if (whole.length <= LONGEST) return;
    const rest = make("button", { type: "button", className: "plain" }, `Show all ${number(whole.length)} characters`);
    rest.addEventListener("click", () => text.replaceChildren(first, whole));
    text.append("\n", rest);
  }
}
