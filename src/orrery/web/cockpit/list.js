// The rows on the page: a window onto all of them, with one current row that the keys act on.
import { build, paint } from "./row.js";
import { Span } from "./span.js";

const EARLY = { rootMargin: "800px" };
const root = document.getElementById("rows");
const above = document.getElementById("above");
const more = document.getElementById("more");

export class List {
  view = [];
  picked = new Set();
  opened = new Set();
  #board;
  #nodes = new Map();
  #current = null;
  #span = new Span();
  #anchor = null;

  constructor(board) {
    this.#board = board;
    root.addEventListener("focusin", (event) => this.#follow(event.target));
    this.#watch(more, () => this.#span.growDown());
    this.#watch(above, (bottom) => {
      if (bottom > innerHeight) this.#span.jump(this.view, -above.getBoundingClientRect().top);
      else this.#span.growUp();
    });
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
    if (fromTop) this.#span.reset();
    else this.#span.follow(this.view, view);
    this.view = view;
    this.#prune();
    this.#lay();
    this.#setCurrent(wanted);
    if (hadFocus && document.activeElement !== focused) this.#refocus(focused);
    if (mark) this.#restore(mark);
    if (fromTop) root.firstElementChild?.scrollIntoView({ block: "nearest" });
  }

  /** Paint one row again. */
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
    this.#setCurrent(row.id);
    if (this.#span.contain(place, this.view.length)) this.#layInPlace();
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
    const rows = this.view.slice(this.#span.from, this.#span.to);
    const wanted = new Set(rows.map((row) => row.id));
    const leaving = [...root.children].filter((node) => !wanted.has(node.dataset.id));
    if (this.#span.from > 0) this.#span.measure(leaving);
    for (const node of leaving) node.remove();
    let place = root.firstElementChild;
    for (const row of rows) {
      const node = this.#nodes.get(row.id) ?? this.#build(row);
      if (!node.isConnected || node.version !== this.#board.version) this.#paint(node, row);
      if (node === place) place = place.nextElementSibling;
      else if (node.isConnected && root.moveBefore) root.moveBefore(node, place);
      else root.insertBefore(node, place);
    }
    root.hidden = !rows.length;
    more.hidden = this.#span.to >= this.view.length;
    above.hidden = this.#span.from === 0;
    above.style.height = `${this.#span.above(this.view)}px`;
  }

  #build(row) {
    const node = build(row);
    this.#nodes.set(row.id, node);
    return node;
  }

  #layInPlace() {
    const mark = this.#landmark();
    this.#lay();
    if (mark) this.#restore(mark);
  }

  /** Change the stretch by `grow` when its end comes near, and again as long as it stays near. */
  #watch(end, grow) {
    const near = new IntersectionObserver(([{ isIntersecting, boundingClientRect }]) => {
      if (!isIntersecting) return;
      grow(boundingClientRect.bottom);
      this.#layInPlace();
      near.unobserve(end);
      near.observe(end);
    }, EARLY);
    near.observe(end);
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
