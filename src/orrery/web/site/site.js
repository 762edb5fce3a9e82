// The demo planet's behaviour: each part starts only where its markup is. It uses of Orrery only the two public
// operations below. A real practice site asks `POST /guided/api/access/check` on its server before it shows a page.

const CHECKOUT = "/guided/api/checkout";
const ACCESS = "/guided/api/access/";
const CHECKOUT_DEADLINE = 20_000;
const POLL = { first: 400, factor: 1.35, longest: 10_000, deadline: 8_000, patience: 180_000 };
const DECIDED = ["granted", "ended", "failed", "unknown"];
const OPENING = ["pending", "granted", "ended"];
const SESSION = /^cs_[A-Za-z0-9_]{1,250}$/;
const REMEMBERED = "planet-session";
const NO_ANSWER = "The shop got no answer, so nothing was charged. Please try again in a moment.";

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

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

// Opening the access

async function readAccess(sessionId) {
  const answer = await fetch(ACCESS + sessionId, { cache: "no-store", signal: AbortSignal.timeout(POLL.deadline) });
  return answer.status === 404 ? { state: "unknown" } : answer.json();
}

// Puts the template of a state into its place, with the day on which the access ends.
function show(place, templates, state, until) {
  const page = document.querySelector(`template[${templates}="${state}"]`).content.cloneNode(true);
  const time = page.querySelector("[data-until]");
  if (time && until) {
    time.dateTime = until;
    time.textContent = day.format(new Date(until));
  }
  place.replaceChildren(page);
  document.title = document.title.replace(/^.*(?= · )/, place.querySelector("h1").textContent);
}

async function watchAccess(panel) {
  const sessionId = new URLSearchParams(location.search).get("session_id") ?? "";
  const end = performance.now() + POLL.patience;
  let shown = "pending";
  const turn = (state, until) => {
    shown = panel.dataset.access = state;
    show(panel, "data-access-state", state, until);
  };
  // The page begins with a pending payment, and may come back to it from an open one.
  const pending = document.createElement("template");
  pending.dataset.accessState = shown;
  pending.content.append(...panel.cloneNode(true).childNodes);
  document.body.append(pending);
  if (!SESSION.test(sessionId)) return turn("unknown");
  for (let pause = POLL.first; performance.now() < end; pause = Math.min(pause * POLL.factor, POLL.longest)) {
    const { state, expires_at: until } = await readAccess(sessionId).catch(() => ({}));
    // This browser may hold a session that opens something: one that opens nothing does not take its place.
    if (OPENING.includes(state)) localStorage.setItem(REMEMBERED, sessionId);
    if (state && state !== shown) turn(state, until);
    if (DECIDED.includes(state)) return;
    await wait(pause);
  }
  if (shown === "pending") turn("late");
}

// Practising

async function practiceState(sessionId) {
  if (!sessionId) return { shown: "closed" };
  const { state, expires_at: until } = await readAccess(sessionId).catch(() => ({}));
  return { shown: state === "granted" ? state : state ? "closed" : "away", until };
}

async function openPractice(place) {
  const { shown, until } = await practiceState(localStorage.getItem(REMEMBERED));
  show(place, "data-practice-state", shown, until);
  document.querySelectorAll("form[data-question]").forEach(setUpQuestion);
}

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
document.querySelectorAll("[data-access]").forEach(watchAccess);
document.querySelectorAll("[data-practice]").forEach(openPractice);
