// The rows on the page: a window onto all of them, with one current row that the keys act on.
import { build, paint } from "./row.js";

const STEP = 150;
const root = document.getElementById("rows");
const more = document.getElementById("more");

export class List {
  view = [];
  picked = new Set();
  opened = new Set();
  #board;
  #nodes = new Map();
  #current = null;
  #limit = STEP;
  #anchor = null;

  constructor(board) {
    this.#board = board;
    root.addEventListener("focusin", (event) => this.#follow(event.target));
    const rest = new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && this.#showMore(), {
      rootMargin: "800px",
    });
    rest.observe(more);
  }

  get current() {
    return this.view.find((row) => row.id === this.#current) ?? null;
  }

  get shown() {
    return this.view.filter((row) => this.picked.has(row.id));
  }

  node(row) {
    return this.#nodes.get(row.id);
  }

  rowOf(element) {
    return this.#board.byId.get(element?.closest?.(".row")?.dataset.id) ?? null;
  }

  /** Show `view`. The current row stays; when it has gone, the row after it becomes the current one. */
  show(view, { fromTop = false } = {}) {
    const hadFocus = root.contains(document.activeElement);
    const focused = document.activeElement;
    const mark = fromTop ? null : this.#landmark();
    const wanted = this.#successor(view);
    if (fromTop) this.#limit = STEP;
    this.view = view;
    this.#prune();
    this.#limit = Math.max(this.#limit, view.findIndex((row) => row.id === wanted) + 2);
    this.#lay();
    this.#setCurrent(wanted);
    if (hadFocus && document.activeElement !== focused) this.#refocus(focused);
    if (mark) this.#restore(mark);
    if (fromTop) this.#current && this.node(this.view[0])?.scrollIntoView({ block: "nearest" });
  }

  /** Paint one row anew. */
  touch(row) {
    const node = this.node(row);
    if (node) this.#paint(node, row);
  }

  /** See to it that what was added to a row can be reached with Tab if the row is the current one, and only then. */
  settle(row) {
    const node = this.node(row);
    if (node) this.#reach(node, row.id === this.#current);
  }

  move(step) {
    if (!this.view.length) return;
    const here = this.view.findIndex((row) => row.id === this.#current);
    this.go(this.view[Math.min(Math.max(here + step, 0), this.view.length - 1)]);
  }

  /** Make a row the current one, with the focus on it. */
  go(row) {
    if (!row) return;
    const place = this.view.findIndex((one) => one.id === row.id);
    if (place < 0) return;
    if (place >= this.#limit - 1) this.#showMore(place);
    this.#setCurrent(row.id);
    const node = this.node(row);
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest" });
  }

  pick(rows, isPicked) {
    for (const row of rows) {
      if (isPicked) this.picked.add(row.id);
      else this.picked.delete(row.id);
      this.touch(row);
    }
  }

  /** Pick the row, with `isRange` all from the one picked before it. */
  pickFrom(row, isPicked, isRange) {
    const [from, to] = [this.#anchor, row.id].map((id) => this.view.findIndex((one) => one.id === id));
    this.#anchor = row.id;
    if (!isRange || from < 0) this.pick([row], isPicked);
    else this.pick(this.view.slice(Math.min(from, to), Math.max(from, to) + 1), isPicked);
  }

  #paint(node, row) {
    paint(node, row, this.#look(row));
    node.version = this.#board.version;
  }

  #look(row) {
    return {
      isPicked: this.picked.has(row.id),
      isOpen: this.opened.has(row.id),
      isTask: this.#board.isTask(row),
      isStale: Boolean(this.#board.isStale(row)),
    };
  }

  #prune() {
    const shown = new Set(this.view.map((row) => row.id));
    for (const id of this.picked) if (!shown.has(id)) this.picked.delete(id);
    for (const id of this.#nodes.keys()) {
      if (this.#board.byId.has(id)) continue;
      this.#nodes.get(id).remove();
      this.#nodes.delete(id);
      this.opened.delete(id);
    }
  }

  /** The id of the current row, or of the first row after it that is still there, or before it. */
  #successor(view) {
    const left = new Set(view.map((row) => row.id));
    if (left.has(this.#current)) return this.#current;
    const here = this.view.findIndex((row) => row.id === this.#current);
    const next = this.view.slice(here + 1).find((row) => left.has(row.id));
    const last = this.view.slice(0, Math.max(here, 0)).findLast((row) => left.has(row.id));
    return (here >= 0 && (next ?? last)?.id) || view[0]?.id || null;
  }

  #lay() {
    const rows = this.view.slice(0, this.#limit);
    const wanted = new Set(rows.map((row) => row.id));
    for (const node of [...root.children]) if (!wanted.has(node.dataset.id)) node.remove();
    let place = root.firstElementChild;
    for (const row of rows) {
      const node = this.#nodes.get(row.id) ?? build(row);
      this.#nodes.set(row.id, node);
      if (!node.isConnected || node.version !== this.#board.version) this.#paint(node, row);
      if (node === place) place = place.nextElementSibling;
      else if (node.isConnected && root.moveBefore) root.moveBefore(node, place);
      else root.insertBefore(node, place);
    }
    root.hidden = !rows.length;
    more.hidden = rows.length === this.view.length;
  }

  #showMore(place = 0) {
    if (this.#limit >= this.view.length) return;
    this.#limit = Math.max(this.#limit, place) + STEP;
    this.#lay();
  }

  #follow(target) {
    const row = this.rowOf(target);
    if (row && row.id !== this.#current) this.#setCurrent(row.id);
  }

  /** One row and what is in it can be reached with Tab; the others with j, k and the arrows. */
  #setCurrent(id) {
    const old = this.#nodes.get(this.#current);
    const node = this.#nodes.get(id);
    if (old && old !== node) this.#reach(old, false);
    this.#current = id;
    if (!node) return;
    this.#reach(node, true);
    node.setAttribute("aria-posinset", String(this.view.findIndex((row) => row.id === id) + 1));
    node.setAttribute("aria-setsize", String(this.view.length));
  }

  #reach(node, isReached) {
    node.tabIndex = isReached ? 0 : -1;
    if (isReached) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
    for (const one of node.querySelectorAll("button, input, a, textarea")) one.tabIndex = isReached ? 0 : -1;
  }

  #refocus(focused) {
    if (root.contains(focused)) focused.focus({ preventScroll: true });
    else if (this.current) this.go(this.current);
    else document.getElementById("search").focus();
  }

  /** A row that is in sight, and where: so that what comes in above it does not push it away. */
  #landmark() {
    const inSight = (node) => {
      const { top, bottom } = node.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    };
    if (scrollY === 0) return null;
    const current = this.#nodes.get(this.#current);
    const node = current?.isConnected && inSight(current) ? current : [...root.children].find(inSight);
    return node && { node, top: node.getBoundingClientRect().top };
  }

  #restore({ node, top }) {
    if (node.isConnected) scrollBy({ top: node.getBoundingClientRect().top - top, behavior: "instant" });
  }
}
