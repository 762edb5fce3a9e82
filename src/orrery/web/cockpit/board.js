// What is known: rows, mailboxes and tasks of the last answer, with what the person did since laid over it.
import { folded, HUB, SOURCES, TRACKS } from "./words.js";

/** Changes that the server may not know yet: each holds until an answer that was asked for after it was settled. */
class Laid {
  #held = new Map();

  put(id, value) {
    this.#held.set(id, { value, settled: Infinity });
  }

  settle(id, moment) {
    const one = this.#held.get(id);
    if (one) one.settled = moment;
  }

  drop(id) {
    this.#held.delete(id);
  }

  value(id) {
    return this.#held.get(id)?.value;
  }

  release(asked) {
    for (const [id, one] of this.#held) if (one.settled < asked) this.#held.delete(id);
  }

  entries() {
    return [...this.#held].map(([id, one]) => [id, one.value]);
  }
}

export class Board {
  rows = [];
  byId = new Map();
  mailboxes = [];
  /** Whether the rows are those that wait, or those that were read and do not. */
  isListed = true;
  /** How many rows do not wait, in one line and by reason. */
  notListed = { count: 0, line: "" };
  loaded = false;
  /** Another one whenever what a row shows may have changed. */
  version = 0;
  query = "";
  sources = new Set();
  tracks = new Set();
  /** The rows that stay though the mailbox no longer has them: somebody writes in them. */
  pinned = () => [];
  #tasks = new Set();
  #shown = new Laid();
  #tasked = new Laid();
  #moment = 0;
  #dismissals;

  constructor(dismissals) {
    this.#dismissals = dismissals;
  }

  /** The moment at which a question is asked, to be given back with its answer. */
  ask() {
    this.#moment += 1;
    return this.#moment;
  }

  take(answer, asked) {
    this.#shown.release(asked);
    this.#tasked.release(asked);
    const known = this.byId;
    const rows = Array.isArray(answer.rows) ? answer.rows : [];
    const ids = new Set(rows.map((row) => row.id));
    const kept = this.#shown.entries().map(([, { row }]) => row).concat(this.pinned().map((id) => known.get(id)));
    for (const row of kept.filter((one) => one && !ids.has(one.id))) {
      rows.splice(this.#placeOf(row, rows), 0, { ...row, gone: !this.#shown.value(row.id) });
      ids.add(row.id);
    }
    this.rows = rows;
    this.byId = new Map(rows.map((row) => [row.id, row]));
    this.mailboxes = answer.mailboxes ?? [];
    this.notListed = answer.not_listed ?? { count: 0, line: "" };
    this.#tasks = new Set(answer.tasks ?? []);
    this.loaded = true;
    this.version += 1;
  }

  /** Where a row stays among others: behind the one that it was behind, of those that are still there. */
  #placeOf(row, rows) {
    const place = this.rows.findIndex((one) => one.id === row.id);
    for (const before of this.rows.slice(0, Math.max(place, 0)).reverse()) {
      const found = rows.findIndex((one) => one.id === before.id);
      if (found >= 0) return found + 1;
    }
    return 0;
  }

  /** Show or hide a row before its server confirms it. */
  lay(row, isShown) {
    this.#shown.put(row.id, { row, isShown });
  }

  layTask(id, isTask) {
    this.#tasked.put(id, isTask);
    this.version += 1;
  }

  settle(id) {
    this.#shown.settle(id, this.#moment);
    this.#tasked.settle(id, this.#moment);
  }

  drop(id) {
    this.#shown.drop(id);
    this.#tasked.drop(id);
    this.version += 1;
  }

  isTask(row) {
    return this.#tasked.value(row.id) ?? this.#tasks.has(row.id);
  }

  isStale(row) {
    return row.gone || ["stale", "failed", "sign-in-needed"].includes(this.mailboxOf(row)?.state);
  }

  mailboxOf(row) {
    if (row.source === HUB) return this.mailboxes.find((one) => one.track === null);
    return this.mailboxes.find((one) => one.account === row.account && one.track === row.track);
  }

  /** The account whose To Do has the task of a row, or nothing: the action ledger has it. */
  toDoOf(row) {
    return this.mailboxOf(row)?.to_do ?? "";
  }

  /** Every row that is not dismissed. */
  open() {
    return this.rows.filter((row) => {
      const laid = this.#shown.value(row.id);
      return (laid ? laid.isShown : true) && (row.source === HUB || !this.#dismissals.has(row.id));
    });
  }

  /** Those of `rows` that the search and the filters let through. */
  matching(rows) {
    const words = folded(this.query).split(/\s+/).filter(Boolean);
    return rows.filter((row) => {
      if (this.sources.size && !this.sources.has(row.source)) return false;
      if (this.tracks.size && !this.tracks.has(row.track)) return false;
      return !words.length || this.#contains(row, words);
    });
  }

  get isNarrowed() {
    return Boolean(this.query.trim() || this.sources.size || this.tracks.size);
  }

  widen() {
    this.query = "";
    this.sources.clear();
    this.tracks.clear();
  }

  #contains(row, words) {
    row.found ??= folded(
      [row.sender, row.subject, row.preview, row.account, SOURCES[row.source], TRACKS[row.track]].join("\n"),
    );
    return words.every((word) => row.found.includes(word));
  }
}
