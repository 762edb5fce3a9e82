// Dismissing rows, setting them aside, adding them to tasks, and undoing each, in the order in which they were done.
import { quoted } from "./row.js";
import { write } from "./server.js";
import { inOrder } from "./turns.js";
import { counted, HUB } from "./words.js";

const DISMISS = "dismiss";
const TASK = "task";
const ASIDE = "aside";
const MANY = 8;
const AWAY = " A task in To Do is deleted there.";

const DONE_WORDS = { done: "Done", later: "For later", undo: "Listed again" };
const FAILED = { done: "Not marked as done:", later: "Not set aside:", undo: "Not brought back:" };
const UNCHANGED = { undo: "Nothing here keeps it out of the list: its mailbox does." };

const act = (rowId, action) => write("/api/action-hub/action", { rowId, action });

const set = (rowId, { action, until }) => write("/api/comms/set-aside", { rowId, action, ...(until && { until }) });

export class Actions {
  #board;
  #dismissals;
  #page;
  #steps = [];

  /** `page` draws the rows (`show`), reads them again (`reread`), and shows words (`announce`). */
  constructor(board, dismissals, page) {
    this.#board = board;
    this.#dismissals = dismissals;
    this.#page = page;
  }

  /** The step that undo takes back next. */
  get last() {
    return this.#steps.at(-1) ?? null;
  }

  dismiss(rows) {
    if (!rows.length) return;
    const step = this.#begin(DISMISS, rows);
    this.#dismissals.add(rows.filter((row) => row.source !== HUB).map((row) => row.id));
    for (const row of rows.filter((one) => one.source === HUB)) this.#dismissAction(step, row);
    this.#page.show();
    this.#report("Dismissed", rows);
  }

  addToTasks(rows) {
    const isLeft = (row) => !this.#board.isTask(row) || this.#board.toDoOf(row); // it may be completed there by now
    const wanted = rows.filter((row) => row.source !== HUB && isLeft(row));
    if (!wanted.length) {
      this.#page.announce(rows.length === 1 ? "This is a task already." : "All of these are tasks already.");
      return;
    }
    const step = this.#begin(TASK, wanted);
    for (const row of wanted) {
      if (this.#board.toDoOf(row)) this.#addToDo(step, row);
      else this.#addTask(step, row);
    }
    this.#page.show();
    this.#report("Adding to tasks", wanted);
  }

  /** Mark rows as done, set them aside until a day (`later`), or bring them back (`undo`). */
  setAside(rows, what, until = null) {
    if (!rows.length) return;
    const step = this.#begin(ASIDE, rows);
    step.isBack = what === "undo";
    for (const row of rows) this.#setOne(step, row, { action: what, until });
    this.#page.show();
    this.#report(until ? `${DONE_WORDS[what]}, until ${until}` : DONE_WORDS[what], rows);
  }

  async #setOne(step, row, asked) {
    if (this.#board.isListed === (asked.action !== "undo")) this.#board.lay(row, false);
    try {
      const { changed, before } = await inOrder(row.id, () => set(row.id, asked));
      step.made.set(row.id, before);
      this.#board.settle(row.id);
      if (!changed) this.#without(step, row);
      if (!changed && UNCHANGED[asked.action]) this.#page.announce(UNCHANGED[asked.action]);
    } catch (error) {
      this.#board.drop(row.id);
      this.#without(step, row);
      this.#page.show(row);
      this.#blame(row, FAILED[asked.action], error);
    }
    this.#page.reread();
  }

  undo() {
    const step = this.#steps.pop();
    if (!step) {
      this.#page.announce("There is nothing to undo. A draft is deleted in its mailbox, a task in To Do there.");
      return;
    }
    const rows = [...step.rows.values()];
    if (step.kind === TASK) for (const row of rows) this.#removeTask(step, row);
    else if (step.kind === ASIDE) for (const row of rows) this.#bringBack(step, row, () => set(row.id, step.made.get(row.id)));
    else {
      this.#dismissals.remove(rows.filter((row) => row.source !== HUB).map((row) => row.id));
      for (const row of rows.filter((one) => one.source === HUB)) this.#bringBack(step, row, () => act(row.id, "undo"));
    }
    this.#page.show(rows[0]);
    const back = step.isBack ? "Set aside again" : "Brought back";
    this.#report(step.kind === TASK ? "Taken out of tasks" : back, rows);
  }

  #begin(kind, rows) {
    const step = { kind, rows: new Map(rows.map((row) => [row.id, row])), made: new Map(), left: rows.length };
    this.#steps.push(step);
    return step;
  }

  /** Take a row out of a step: there is nothing to undo about it. */
  #without(step, row) {
    step.rows.delete(row.id);
    if (!step.rows.size) this.#steps = this.#steps.filter((one) => one !== step);
  }

  #report(what, rows) {
    if (rows.length === 1) this.#page.announce(`${what}: `, quoted(rows[0]), ".");
    else this.#page.announce(`${what}: ${counted(rows.length, "row")}.`);
  }

  #blame(row, what, error) {
    this.#page.announce(what, " ", quoted(row), `: ${error.message}`);
  }

  async #dismissAction(step, row) {
    this.#board.lay(row, false);
    try {
      await inOrder(row.id, () => act(row.id, "dismiss"));
      this.#board.settle(row.id);
    } catch (error) {
      if (error.tag === "row-gone") {
        this.#board.settle(row.id);
        this.#without(step, row);
        return;
      }
      this.#board.drop(row.id);
      this.#without(step, row);
      this.#page.show(row);
      this.#blame(row, "Not dismissed, so it is back:", error);
    }
  }

  async #bringBack(step, row, call) {
    const isShown = step.kind !== ASIDE || this.#board.isListed !== step.isBack;
    this.#board.lay(row, isShown);
    try {
      await inOrder(row.id, call);
      this.#board.settle(row.id);
      if (step.kind === ASIDE) this.#page.reread();
    } catch (error) {
      this.#board.drop(row.id);
      this.#board.lay(row, !isShown);
      this.#board.settle(row.id);
      this.#steps.push({ ...step, rows: new Map([[row.id, row]]) });
      this.#page.show();
      this.#blame(row, step.isBack ? FAILED.later : FAILED.undo, error);
    }
  }

  async #addTask(step, row) {
    this.#board.layTask(row.id, true);
    try {
      const task = await inOrder(row.id, () => write("/api/comms/add-to-tasks", { rowId: row.id }));
      this.#board.settle(row.id);
      step.made.set(row.id, task.id);
      if (task.alreadyExisted) this.#without(step, row);
      this.#count(step, row, task.alreadyExisted ? "It was a task already:" : "Added to tasks:");
    } catch (error) {
      this.#board.drop(row.id);
      this.#without(step, row);
      this.#page.show();
      this.#blame(row, "Not added to tasks:", error);
    }
  }

  /** Add a task that is kept elsewhere: it cannot be undone here. The row stays marked until the page is reloaded. */
  async #addToDo(step, row) {
    this.#without(step, row);
    this.#board.layTask(row.id, true);
    const account = this.#board.toDoOf(row);
    try {
      const task = await inOrder(row.id, () => write("/api/comms/add-to-tasks", { rowId: row.id }));
      step.made.set(row.id, task.id);
      step.isAway = true;
      this.#count(step, row, `${task.alreadyExisted ? "It was a task already" : "Added to tasks"} in To Do of ${account}:`);
    } catch (error) {
      this.#board.drop(row.id);
      this.#page.show();
      this.#blame(row, "Not added to tasks:", error);
    }
  }

  /** Show how far a step has come: the row of a step of one, figures for many. */
  #count(step, row, words) {
    step.left -= 1;
    const done = step.made.size;
    const all = done + step.left;
    const away = step.isAway ? AWAY : "";
    if (all === 1) this.#page.announce(words, " ", quoted(row), `.${away}`);
    else if (!step.left) this.#page.announce(`Added to tasks: ${counted(done, "row")}.${away}`);
    else if (done % MANY === 0) this.#page.announce(`Adding to tasks: ${done} of ${all}.`);
    this.#page.reread();
  }

  async #removeTask(step, row) {
    this.#board.layTask(row.id, false);
    try {
      await inOrder(row.id, async () => {
        const id = step.made.get(row.id);
        if (id !== undefined && step.rows.has(row.id)) await act(id, "dismiss");
      });
      this.#board.settle(row.id);
    } catch (error) {
      this.#board.drop(row.id);
      this.#board.layTask(row.id, true);
      this.#board.settle(row.id);
      this.#steps.push({ ...step, rows: new Map([[row.id, row]]) });
      this.#page.show();
      this.#blame(row, "Not taken out of tasks:", error);
    }
    this.#page.reread();
  }
}
