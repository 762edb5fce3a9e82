// What was dismissed today, in local storage by the local calendar day; in memory where that storage fails.
import { localDay } from "./words.js";

const PREFIX = "orrery.dismissed.";
const FULL = "This browser does not keep what you dismiss (its storage is full or off): those rows come back with a reload.";
const CORRUPT = "What was dismissed earlier today could not be read, so those rows are back.";

function listed(text) {
  if (text === null) return [];
  const list = JSON.parse(text);
  if (!Array.isArray(list) || list.some((id) => typeof id !== "string")) throw new TypeError("not a list of row ids");
  return list;
}

export class Dismissals {
  #ids = new Set();
  #day = "";
  #text = null;
  #warn;
  #warned = new Set();

  /** `warn` is called with a sentence, once for each kind of trouble. */
  constructor(warn) {
    this.#warn = warn;
    this.refreshDay();
  }

  has(id) {
    return this.#ids.has(id);
  }

  get size() {
    return this.#ids.size;
  }

  add(ids) {
    this.#change((all) => ids.forEach((id) => all.add(id)));
  }

  remove(ids) {
    this.#change((all) => ids.forEach((id) => all.delete(id)));
  }

  /** Start again when the calendar day is another one; return whether it is. */
  refreshDay() {
    const day = localDay();
    if (day === this.#day) return false;
    const first = this.#day === "";
    this.#day = day;
    this.#ids = new Set();
    this.#text = null;
    this.#forgetOtherDays();
    this.read();
    return !first;
  }

  /** Take over what another tab has written. */
  read() {
    let text;
    try {
      text = localStorage.getItem(PREFIX + this.#day);
    } catch {
      this.#warnOnce(FULL);
      return;
    }
    if (text === this.#text) return;
    this.#text = text;
    try {
      this.#ids = new Set(listed(text));
    } catch {
      this.#warnOnce(CORRUPT);
    }
  }

  #change(apply) {
    this.refreshDay();
    this.read();
    apply(this.#ids);
    const text = JSON.stringify([...this.#ids]);
    try {
      localStorage.setItem(PREFIX + this.#day, text);
      this.#text = text;
    } catch {
      this.#warnOnce(FULL);
    }
  }

  #forgetOtherDays() {
    try {
      const keys = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index));
      const old = keys.filter((key) => key?.startsWith(PREFIX) && key !== PREFIX + this.#day);
      for (const key of old) localStorage.removeItem(key);
    } catch {
      this.#warnOnce(FULL);
    }
  }

  #warnOnce(words) {
    if (this.#warned.has(words)) return;
    this.#warned.add(words);
    this.#warn(words);
  }
}
