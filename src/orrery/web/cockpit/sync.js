// Reading the rows: at the start, on refresh, while a mailbox is being read, every minute, and again after an outage.
import { hideBanner, showBanner } from "./notices.js";
import { listeners, read, UNANSWERED } from "./server.js";
import { counted } from "./words.js";

const LISTED = "/api/comms/rows";
const NOT_LISTED = `${LISTED}?listed=false`;
const LOADING_PAUSE = 2000;
const OFFLINE_PAUSE = 5000;
const SIGN_IN_TIME = 600_000;
const OFFLINE =
  `${UNANSWERED} Is it still running in its terminal? If not, start it there again and open the link that it shows. ` +
  "Until then, this list stays as it was; the page tries again every 5 seconds.";
const OUTDATED =
  "This page asks for something that the running cockpit does not know. " +
  "End it in its terminal with Ctrl-C and start it again.";
const OLDER = "This page is older than its files.";

export class Sync {
  failure = null;
  #board;
  #show;
  #announce;
  #taken = 0;
  #pulse = null;
  #poll = 0;
  #retry = 0;
  #followed = new Map();

  constructor(board, show, announce) {
    this.#board = board;
    this.#show = show;
    this.#announce = announce;
    listeners.add((error) => this.#hear(error));
  }

  /** Ask every mailbox again, once however often it is pressed. */
  pulse() {
    this.#pulse ??= this.#refresh().finally(() => (this.#pulse = null));
    return this.#pulse;
  }

  /** Read what is known now. */
  async reread() {
    await this.#load();
  }

  async #refresh() {
    const before = this.#board.byId;
    this.#announce("Asking every mailbox…");
    if (!(await this.#load("sync=pulse"))) return this.#announce(`Not refreshed. ${this.failure?.message ?? ""}`);
    const fresh = this.#board.rows.filter((row) => !before.has(row.id)).length;
    const waiting = this.#board.mailboxes.filter((one) => one.state === "loading").length;
    const old = this.#board.mailboxes.filter((one) => !["fresh", "loading"].includes(one.state)).length;
    const rest = [
      waiting && `${counted(waiting, "mailbox", "mailboxes")} still being read`,
      old && `${counted(old, "mailbox", "mailboxes")} not read`,
    ];
    return this.#announce([`Refreshed: ${counted(fresh, "new row")}`, ...rest.filter(Boolean)].join(", ") + ".");
  }

  async #load(query = "") {
    const asked = this.#board.ask();
    const { isListed } = this.#board;
    const path = isListed ? LISTED : NOT_LISTED;
    clearTimeout(this.#poll);
    try {
      const answer = await read(query ? `${path}${isListed ? "?" : "&"}${query}` : path);
      this.failure = null;
      if (asked > this.#taken && isListed === this.#board.isListed) {
        this.#taken = asked;
        this.#board.take(answer, asked);
        this.#checkPage(answer.page);
      }
    } catch (error) {
      this.failure = error;
    }
    this.#show();
    clearTimeout(this.#poll);
    if (this.#board.mailboxes.some((one) => one.state === "loading") || this.#isFollowing()) {
      this.#poll = setTimeout(() => this.reread(), LOADING_PAUSE);
    }
    return !this.failure;
  }

  /** Look often until an account's mailbox is read: its person signs in in another tab. */
  follow(account) {
    this.#followed.set(account, Date.now() + SIGN_IN_TIME);
    this.reread();
  }

  #isFollowing() {
    for (const [account, end] of this.#followed) {
      const state = this.#board.mailboxes.find((one) => one.account === account)?.state;
      if (state === "fresh") this.#announce(`${account} is signed in, and its rows are here.`);
      if (!["sign-in-needed", "loading"].includes(state) || Date.now() > end) this.#followed.delete(account);
    }
    return this.#followed.size > 0;
  }

  #checkPage(page) {
    const own = document.querySelector('meta[name="orrery-page"]').content;
    if (typeof page !== "string" || page === own) hideBanner("older");
    else showBanner("older", OLDER, { words: "Reload", act: () => location.reload() }, "info");
  }

  #hear(error) {
    if (error?.tag === "not-found") showBanner("outdated", OUTDATED);
    if (error?.tag !== "offline") {
      hideBanner("offline");
      clearTimeout(this.#retry);
      this.#retry = 0;
      return;
    }
    showBanner("offline", OFFLINE, null, "bad");
    this.#retry ||= setTimeout(() => this.#again(), OFFLINE_PAUSE);
  }

  #again() {
    this.#retry = 0;
    if (document.hidden) this.#retry = setTimeout(() => this.#again(), OFFLINE_PAUSE);
    else this.retry();
  }

  /** What is tried again after an outage; the page sets it until it is signed in. */
  retry = () => this.reread();
}
