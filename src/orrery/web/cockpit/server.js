// The one way to the cockpit's server: the launch code, the token, and errors in plain words.

const TOKEN = "orrery.token";
const LONGEST_ANSWER = 60_000;
export const UNANSWERED = "The cockpit does not answer.";

export class Refused extends Error {
  constructor(status, tag, message) {
    super(message);
    this.status = status;
    this.tag = tag;
  }
}

let token = null;

function remembered() {
  try {
    return sessionStorage.getItem(TOKEN);
  } catch {
    return null; // storage is off: the token lives as long as this page
  }
}

function remember(value) {
  token = value;
  try {
    sessionStorage.setItem(TOKEN, value);
  } catch {
    // storage is off: the token lives as long as this page
  }
}

/** These hear of every answer: with the error, or with nothing when all is well. */
export const listeners = new Set();

function report(error) {
  for (const listener of listeners) listener(error);
}

async function refusalOf(answer) {
  let body = null;
  try {
    body = await answer.json();
  } catch {
    // not one of the cockpit's own answers
  }
  const words = typeof body?.message === "string" && body.message ? body.message : `The cockpit answered ${answer.status}.`;
  return new Refused(answer.status, String(body?.error ?? ""), words);
}

async function reach(path, options) {
  try {
    const answer = await fetch(path, { ...options, cache: "no-store", signal: AbortSignal.timeout(LONGEST_ANSWER) });
    return answer.ok ? { text: await answer.text() } : { error: await refusalOf(answer) };
  } catch {
    return { error: new Refused(0, "offline", UNANSWERED) };
  }
}

async function ask(path, body) {
  const headers = { Authorization: `Bearer ${token ?? remembered() ?? ""}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const { text, error } = await reach(path, options);
  report(error ?? null);
  if (error) throw error;
  return text;
}

export const read = async (path) => JSON.parse(await ask(path));
export const readText = (path) => ask(path);
export const write = async (path, body) => JSON.parse(await ask(path, body));

/** The launch code of this page's address, which is taken out of the address and of the history. */
export function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) history.replaceState(null, "", location.pathname);
  return code;
}

/** Exchange the launch code for the token. */
export async function enter(code) {
  remember((await write("/api/session", { code })).token);
}

export const hasToken = () => Boolean(token ?? remembered());
