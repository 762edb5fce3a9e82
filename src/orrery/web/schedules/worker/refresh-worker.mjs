// Refreshes the live counter every minute, as a scheduled job of the edge platform. The how-to schedule-the-refresh
// shows how to put it in place. The address is here, since a partial update can wipe a worker's variables.
const REFRESH_URL = "@REFRESH_URL@";
const DEADLINE_MS = 20_000;

export default {
  async scheduled(_event, env) {
    const response = await fetch(REFRESH_URL, {
      method: "POST",
      headers: { authorization: `Bearer ${password(env)}` },
      redirect: "manual", // the bearer must not travel on
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const answer = await read(response);
    if (response.status !== 200 || answer?.ok !== true) {
      // What is thrown shows the run as failed. Only a tag is repeated of what came from outside.
      const tag = /^[\w-]{1,40}$/.test(answer?.error ?? "") ? answer.error : "not an answer of the counter";
      throw new Error(`The refresh failed: HTTP ${response.status}, ${tag}.`);
    }
    console.log(`Refreshed: ${Number(answer.active)} active.`);
  },
};

// An error of fetch would repeat a header that cannot be sent, and with it the password.
function password(env) {
  const text = (env.ADMIN_PASSWORD ?? "").trim();
  if (!/^[ -~]+$/.test(text)) {
    throw new Error("The secret ADMIN_PASSWORD is missing, or is not printable ASCII.");
  }
  return text;
}

async function read(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
