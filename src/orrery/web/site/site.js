// The practice page of the demo's sites: an answer is judged, and the right ones are counted.

const WORDS = {
  en: {
    question: "Question {}", right: "Question {}: right", wrong: "Question {}: wrong",
    score: "{} of {} right.", open: " {} to go.", all: " That was all of them.",
  },
  de: {
    question: "Frage {}", right: "Frage {}: richtig", wrong: "Frage {}: falsch",
    score: "{} von {} richtig.", open: " Noch {}.", all: " Das waren alle.",
  },
}[document.documentElement.lang];

const say = (words, ...values) => values.reduce((text, value) => text.replace("{}", value), WORDS[words]);

function judge(form) {
  const chosen = form.querySelector("input:checked");
  return !chosen ? "none" : chosen.value === form.dataset.right ? "right" : "wrong";
}

function showVerdict(form, verdict) {
  const text = form.querySelector(`template[data-verdict="${verdict}"]`)?.content.cloneNode(true);
  form.querySelector(".verdict").replaceChildren(text ?? "");
  const { number } = form.dataset;
  const link = document.querySelector(`.map a[href="#question-${number}"]`);
  link.dataset.verdict = verdict;
  link.ariaLabel = say(["right", "wrong"].includes(verdict) ? verdict : "question", number);
}

function showScore() {
  const questions = document.querySelectorAll(".map a").length;
  const judged = document.querySelectorAll('.map [data-verdict="right"], .map [data-verdict="wrong"]').length;
  const right = document.querySelectorAll('.map [data-verdict="right"]').length;
  const open = judged < questions ? say("open", questions - judged) : say("all");
  document.querySelector("[data-score]").textContent = judged ? say("score", right, judged) + open : "";
}

function setUpQuestion(form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    showVerdict(form, judge(form));
    showScore();
  });
  // Another choice withdraws the verdict on the one before.
  form.addEventListener("change", () => {
    showVerdict(form, "");
    showScore();
  });
}

document.querySelectorAll("form[data-question]").forEach(setUpQuestion);
