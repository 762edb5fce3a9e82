// Which of the rows are on the page: a stretch that grows as the person scrolls, and stays small around the current row.

const STEP = 60;
const MOST = 300;
const GUESSED_HEIGHT = 60;

export class Span {
  from = 0;
  to = STEP;
  #heights = new Map();

  reset() {
    this.from = 0;
    this.to = STEP;
  }

  /** Stay with the rows that are on the page when the list around them changes. */
  follow(before, after) {
    const places = new Map(after.map((row, place) => [row.id, place]));
    const known = before.slice(this.from, this.to).findIndex((row) => places.has(row.id));
    const size = this.to - this.from;
    if (this.from > 0 && known >= 0) this.from = Math.max(0, places.get(before[this.from + known].id) - known);
    this.from = Math.max(0, Math.min(this.from, after.length - STEP));
    this.to = this.from + Math.max(size, STEP);
  }

  /** Have the row at `place` and its neighbours on the page, and not many more; return whether that is a change. */
  contain(place, length) {
    const { from, to } = this;
    const isIn = place > from - (from === 0) && place < to - 1;
    if (isIn && to - from <= MOST) return false;
    this.from = Math.max(0, Math.min(from, place - STEP), place - MOST / 2);
    this.to = Math.min(Math.max(to, place + STEP), place + MOST / 2);
    if (place - STEP > to || place + STEP < from) [this.from, this.to] = [Math.max(0, place - STEP), place + STEP];
    return this.from !== from || Math.min(this.to, length) !== Math.min(to, length);
  }

  growDown() {
    this.to += STEP;
  }

  growUp() {
    this.from = Math.max(0, this.from - STEP);
  }

  /** Go to where the rows would be that are `offset` pixels below the first. */
  jump(view, offset) {
    let [place, height] = [0, 0];
    while (place < this.from && height < offset) height += this.#heightOf(view[place++]);
    this.from = Math.max(0, place - STEP);
    this.to = place + STEP;
  }

  /** Remember how high these elements are, for when their rows are above the stretch. */
  measure(elements) {
    for (const element of elements) this.#heights.set(element.dataset.id, element.offsetHeight);
  }

  /** How much room the rows above the stretch would take. */
  above(view) {
    let height = 0;
    for (let place = 0; place < this.from; place += 1) height += this.#heightOf(view[place]);
    return height;
  }

  #heightOf(row) {
    return this.#heights.get(row?.id) ?? GUESSED_HEIGHT;
  }
}
