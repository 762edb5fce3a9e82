// Calls in order: those about one row wait for each other, and of many at once only a few are under way.

const WIDTH = 4; // a browser opens six connections to one host: two stay for reading

const last = new Map();

/** Do `act` when everything before it about `id` is done. */
export function inOrder(id, act) {
  const turn = (last.get(id) ?? Promise.resolve()).then(atMostAFew(act));
  const done = turn.catch(() => {});
  last.set(id, done);
  done.then(() => last.get(id) === done && last.delete(id));
  return turn;
}

let running = 0;
const waiting = [];

const atMostAFew = (act) => async () => {
  if (running >= WIDTH) await new Promise((go) => waiting.push(go));
  else running += 1;
  try {
    return await act();
  } finally {
    if (waiting.length) waiting.shift()();
    else running -= 1;
  }
};
