// Until which day a row is set aside: a few days to choose from, or another one.
import { dayAfter, localDay, make, weekday } from "./words.js";

const WEEK = 7;
const YEAR = 366;
const dialog = document.getElementById("later-dialog");
const days = document.getElementById("later-days");
const form = document.getElementById("later");
const field = document.getElementById("later-day");

let choose = null;

function end(day) {
  dialog.close();
  choose?.(day);
}

function button(words, date) {
  return make("button", { type: "button", onclick: () => end(localDay(date)) }, `${words} (${weekday(date)})`);
}

/** Ask for a day, and call `chosen` with it, such as 2026-12-01. */
export function askDay(chosen) {
  choose = chosen;
  const toMonday = (WEEK + 1 - new Date().getDay()) % WEEK || WEEK;
  const offered = [["Tomorrow", 1], ["Next Monday", toMonday], ["In a week", WEEK]];
  const different = offered.filter(([, ahead], place) => offered.findIndex(([, other]) => other === ahead) === place);
  days.replaceChildren(...different.map(([words, ahead]) => button(words, dayAfter(ahead))));
  field.min = localDay(dayAfter(1));
  field.max = localDay(dayAfter(YEAR));
  field.value = "";
  dialog.showModal();
  days.firstElementChild.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  end(field.value);
});
