// The demo planet's behaviour: each part starts only where its markup is. It uses of Orrery only the operation below.

const CHECKOUT = "/guided/api/checkout";
const CHECKOUT_DEADLINE = 20_000;
const NO_ANSWER = "The shop got no answer, so nothing was charged. Please try again in a moment.";

// Buying

// Not crypto.randomUUID, which exists on https and localhost only.
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function startCheckout(form, key) {
  const { certCode, vendorSlug } = form.dataset;
  const answer = await fetch(CHECKOUT, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": key },
    body: JSON.stringify({ productType: "cert", certCode, vendorSlug }),
    signal: AbortSignal.timeout(CHECKOUT_DEADLINE),
  });
  return { ok: answer.ok, ...(await answer.json()) };
}

function setUpCheckout(form) {
  const button = form.querySelector("button");
  const label = button.querySelector("[data-label]");
  const problem = form.querySelector("[data-problem]");
  const invitation = label.textContent;
  let key = null;

  function show(busy, sentence = "") {
    button.setAttribute("aria-disabled", busy);
    label.textContent = busy ? "Opening the payment page…" : invitation;
    problem.textContent = sentence;
  }

  async function buy() {
    key ??= newKey();
    show(true);
    try {
      const { ok, url, message } = await startCheckout(form, key);
      key = null;
      if (ok) location.assign(url);
      else show(false, message);
    } catch {
      // The answer was lost: the next click is the same intent, so it carries the same key.
      show(false, NO_ANSWER);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") !== "true") buy();
  });
  // The Back button may bring the page as it was left: busy.
  addEventListener("pageshow", () => show(false, problem.textContent));
}

// Practising

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
  link.ariaLabel = ["right", "wrong"].includes(verdict) ? `Question ${number}: ${verdict}` : `Question ${number}`;
}

function showScore() {
  const questions = document.querySelectorAll(".map a").length;
  const judged = document.querySelectorAll('.map [data-verdict="right"], .map [data-verdict="wrong"]').length;
  const right = document.querySelectorAll('.map [data-verdict="right"]').length;
  const open = judged < questions ? ` ${questions - judged} to go.` : " That was all of them.";
  document.querySelector("[data-score]").textContent = judged ? `${right} of ${judged} right.${open}` : "";
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

document.querySelectorAll("form[data-checkout]").forEach(setUpCheckout);
document.querySelectorAll("form[data-question]").forEach(setUpQuestion);
