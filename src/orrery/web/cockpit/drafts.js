// Drafts of replies, with a comment if the person wants one. There is no call here that sends.
import { countOf, newer, readHead, recipients, warnings } from "./head.js";
import { quoted } from "./row.js";
import { write } from "./server.js";
import { inOrder } from "./turns.js";
import { counted, linkTo, make, number } from "./words.js";

const template = document.getElementById("draft-template");
const dialog = document.getElementById("many-dialog");
const many = document.getElementById("many");
const MADE = "Draft made; it is not sent.";
const OLD = "This draft was there already; it is not sent.";

export class Drafts {
  #list;
  #announce;
  #form = null;
  #row = null;
  #texts = new Map();
  #underWay = new Map();
  #rows = [];

  constructor(list, announce) {
    this.#list = list;
    this.#announce = announce;
    many.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#makeMany(many.querySelector("textarea").value.trim());
    });
    many.addEventListener("keydown", (event) => this.#sendOff(event, many));
  }

  /** The rows that must stay on the page: a form is open in them, or their draft is under way. */
  get held() {
    return [...this.#underWay.keys(), ...(this.#row ? [this.#row.id] : [])];
  }

  /** Open the form of one row, or of several; `toAll` answers everybody whom a message names. */
  open(rows, toAll = false) {
    const able = rows.filter((row) => row.replyable);
    if (!able.length) this.#announce("No reply can be drafted to this: there is no address to reply to.");
    else if (rows.length > 1) this.#ask(able, rows.length - able.length);
    else this.#openIn(able[0], toAll).focus();
  }

  /** Close the open form and return whether there was one; what was written in it comes back with it. */
  close() {
    if (!this.#form) return false;
    const [form, row] = [this.#form, this.#row];
    this.#texts.set(row.id, { comment: form.querySelector("textarea").value, toAll: form.elements.all.checked });
    this.#form = this.#row = null;
    const hadFocus = form.contains(document.activeElement);
    form.remove();
    if (hadFocus) this.#list.go(row);
    return true;
  }

  #openIn(row, toAll = false) {
    if (this.#row?.id !== row.id) {
      const before = this.#texts.get(row.id) ?? { comment: "", toAll: false };
      this.close();
      this.#form = template.content.firstElementChild.cloneNode(true);
      this.#row = row;
      this.#form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#make(row);
      });
      this.#form.addEventListener("keydown", (event) => this.#sendOff(event, event.currentTarget));
      this.#form.querySelector("textarea").value = before.comment;
      this.#form.elements.all.checked = before.toAll || toAll;
      const below = this.#list.node(row).querySelector(".below");
      below.querySelector(".note")?.remove();
      below.prepend(this.#form);
      this.#form.scrollIntoView({ block: "nearest" });
      this.#address(row, this.#form);
    } else if (toAll) {
      this.#form.elements.all.click();
    }
    return this.#form.querySelector("textarea");
  }

  /** Show whom the draft will go to, before it is made: the sender alone, or all where there are more. */
  async #address(row, form) {
    const [to, all] = [form.querySelector(".to"), form.elements.all];
    to.textContent = "Reading whom it goes to…";
    try {
      const { answer } = await readHead(row);
      const show = () => {
        const chosen = all.checked && answer.all ? answer.all : answer.alone;
        to.replaceChildren(newer(answer), ...recipients(chosen), warnings(answer.warnings));
      };
      all.parentElement.hidden = !answer.all;
      if (answer.all) all.nextElementSibling.textContent = `Answer all ${number(countOf(answer.all))}`;
      all.addEventListener("change", show);
      show();
    } catch (error) {
      to.textContent = `Whom it goes to cannot be shown. ${error.message}`;
    }
    this.#list.settle(row);
  }

  #sendOff(event, form) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  }

  async #make(row) {
    const [comment, toAll] = [this.#form.querySelector("textarea").value.trim(), this.#form.elements.all.checked];
    this.close();
    this.#note(row, "Making the draft…");
    this.#announce("Making the draft…");
    try {
      const made = await this.#draft(row, comment, toAll);
      this.#texts.delete(row.id);
      const words = made.alreadyExisted ? OLD : MADE;
      const more = " To undo it, delete it in the mailbox. ";
      this.#note(row, words, more, linkTo(made.webLink, "Open the draft"));
      this.#announce(words, more, linkTo(made.webLink, "Open the draft"));
    } catch (error) {
      this.#announce("No draft was made for ", quoted(row), `: ${error.message}`);
      this.#fail(row, error);
    }
  }

  async #draft(row, comment, replyAll = false) {
    this.#underWay.set(row.id, row);
    const asked = { rowId: row.id, ...(comment && { comment }), ...(replyAll && { replyAll }) };
    try {
      return await inOrder(row.id, () => write("/api/comms/draft-reply", asked));
    } finally {
      this.#underWay.delete(row.id);
    }
  }

  /** Put the form back with the comment in it, unless the person already writes in another one. */
  #fail(row, error) {
    const words = `No draft was made. ${error.message}`;
    if (this.#form || !this.#list.node(row)?.isConnected) return this.#note(row, words);
    const hadFocus = this.#list.node(row).contains(document.activeElement);
    const field = this.#openIn(row);
    this.#form.querySelector(".fault").textContent = words;
    if (hadFocus) field.focus();
    return undefined;
  }

  #note(row, ...words) {
    const below = this.#list.node(row)?.querySelector(".below");
    if (!below) return;
    below.querySelector(".note")?.remove();
    below.prepend(make("p", { className: "note" }, ...words));
    this.#list.settle(row);
  }

  #ask(rows, left) {
    this.#rows = rows;
    document.getElementById("many-title").textContent = `Draft ${counted(rows.length, "reply", "replies")}`;
    const out = left ? ` ${counted(left, "row")} cannot be replied to and ${left === 1 ? "is" : "are"} left out.` : "";
    document.getElementById("many-note").textContent =
      `The drafts are kept in the mailboxes and are not sent; to undo one, delete it there.${out}`;
    many.querySelector("textarea").value = "";
    dialog.showModal();
    many.querySelector("textarea").focus();
  }

  async #makeMany(comment) {
    dialog.close();
    const rows = this.#rows;
    let made = 0;
    const failed = [];
    const progress = () => this.#announce(`Making drafts: ${made} of ${rows.length}.`);
    progress();
    const one = async (row) => {
      try {
        const { alreadyExisted, webLink } = await this.#draft(row, comment);
        this.#note(row, alreadyExisted ? OLD : MADE, " ", linkTo(webLink, "Open the draft"));
        made += 1;
        progress();
      } catch (error) {
        failed.push(error);
        this.#note(row, `No draft was made. ${error.message}`);
      }
    };
    await Promise.all(rows.map(one));
    const why = failed.length ? ` ${failed.length} failed: ${failed[0].message}` : "";
    this.#announce(`${counted(made, "draft")} made; nothing is sent.${why}`);
  }
}
