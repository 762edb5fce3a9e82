// Who wrote a message to whom, what to look at about that, and whom an answer would go to.
import { read } from "./server.js";
import { isolated, make, moment, number, oneLine } from "./words.js";

const HEAD = "/api/comms/message-head?messageId=";
const SHOWN = 8;

export const readHead = (row) => read(HEAD + encodeURIComponent(row.id));

/** "Ann Lind <ann@lab.example>": the address is beside each name that is not the address itself. */
export function person({ name, address }) {
  const [shown, where] = [oneLine(name), oneLine(address)];
  if (!shown || shown === where) return [isolated(where || "(no sender)")];
  return where ? [isolated(shown), " <", isolated(where), ">"] : [isolated(shown)];
}

/** What to look at, each in one sentence, or nothing. */
export function warnings(several) {
  if (!several.length) return "";
  const lines = several.map(({ kind, words }) => {
    const mark = kind === "first-contact" ? "New: " : "Check: ";
    return make("li", { className: kind }, make("strong", { textContent: mark }), make("bdi", { textContent: oneLine(words) }));
  });
  const list = make("ul", { className: "warnings", ariaLabel: "About the sender" }, ...lines);
  list.setAttribute("role", "list");
  return list;
}

/** "To Ann, Bo and 12 more": a line for each kind of recipient that there is. */
export function recipients({ to, cc, more }) {
  return [["To", to], ["Cc", cc]]
    .filter(([, people]) => people.length)
    .map(([kind, people], place, all) => line(kind, people, place === all.length - 1 ? more : 0));
}

function line(kind, people, more) {
  const left = people.length - SHOWN + more;
  const named = people.slice(0, left > 0 ? SHOWN : people.length).flatMap((one, place) => [place ? ", " : "", ...person(one)]);
  const rest = left > 0 ? ` and ${number(left)} more` : "";
  return make("p", { className: "people" }, make("strong", { textContent: `${kind} ` }), ...named, rest);
}

/** Which message a draft answers, where that is not the row's own. */
export function newer(answer) {
  if (!answer.is_newer) return "";
  const words = ["It answers the newest message of this conversation: from ", ...person(answer.sender)];
  return make("p", { className: "people" }, ...words, `, ${moment(answer.received_at)}.`);
}

export const countOf = ({ to, cc, more }) => to.length + cc.length + more;
