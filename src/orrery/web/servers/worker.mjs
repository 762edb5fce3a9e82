// Practice pages of @NAME@, for buyers only.
// Made by `orrery site worker`: make it again when your products change.
// A module worker in front of the site. With static assets, set binding = "ASSETS" and run_worker_first = true in
// wrangler.toml: otherwise they are handed out before the worker is asked. Without them, give it a route of all paths
// of the site.

const SERVICE = "@SERVICE@";
const PRODUCTS = @PRODUCTS@;
const AWAY = "@AWAY@";

const OF_ALL = { "Strict-Transport-Security": "max-age=31536000" };
// No cache on the way keeps a page for others, and a browser asks again each time.
const PRIVATE = { ...OF_ALL, "Cache-Control": "private, no-cache" };

export default {
  async fetch(request, env) {
    const { pathname, search } = new URL(request.url);
    if (/^\/(guided|live)\/|^\/api\/stats$/.test(pathname)) {
      return fromService(request, pathname + search);
    }
    const folder = folderOf(pathname);
    return folder ? gated(request, env, PRODUCTS[folder], pathname) : withHeaders(await file(request, env), OF_ALL);
  },
};

// However a path is written: what hands out the file may read %2f, //, /../ or capitals in another way than we do.
// Byte by byte, as a % that encodes nothing must neither hide a folder nor close a page that is for all.
function folderOf(pathname) {
  for (let path = pathname, before; path !== before; ) {
    const parts = [];
    for (const part of path.toLowerCase().split(/[/\\]+/)) {
      if (part === "..") parts.pop();
      else if (part && part !== ".") parts.push(part);
    }
    const plain = `/${parts.join("/")}/`;
    const found = Object.keys(PRODUCTS).find((folder) => plain.startsWith(folder.toLowerCase()));
    if (found) return found;
    [before, path] = [path, path.replace(/%([0-9a-f]{2})/gi, (_, byte) => String.fromCharCode(parseInt(byte, 16)))];
  }
}

async function gated(request, env, product, pathname) {
  const status = await answerOf(request, product);
  if (status === 204) return withHeaders(await file(request, env), PRIVATE);
  if (status === 401) return to(`@LOST@?product=${product}${back(pathname)}`);
  if (status === 403) return to(`@ENDED@?product=${product}`);
  return away();
}

// Only the cookie goes to the gate: with its body, Range, If-None-Match or Authorization, the visitor's request could
// get an answer that is neither yes nor no.
async function answerOf(request, product) {
  const headers = { Cookie: request.headers.get("Cookie") ?? "" };
  try {
    const signal = AbortSignal.timeout(5000);
    return (await fetch(`${SERVICE}@GATE@${product}`, { headers, redirect: "manual", signal })).status;
  } catch {
    return 503;
  }
}

// A path of this site and nothing else.
const back = (pathname) => (/^\/[^/\\]/.test(pathname) ? `&back=${encodeURIComponent(pathname)}` : "");

const to = (address) => new Response(null, { status: 303, headers: { ...PRIVATE, Location: address } });

// Orrery does not answer, or cannot read its store: the page stays closed, and the visitor reads that no access is
// lost.
const away = () =>
  new Response(AWAY, { status: 503, headers: { ...PRIVATE, "Content-Type": "text/html", Refresh: "10" } });

// The hosted pages, what your pages ask of Orrery, and the live count, on the site's own origin: there the browser gets
// its cookie.
async function fromService(request, address) {
  const asked = new Request(SERVICE + address, request);
  asked.headers.set("X-Forwarded-For", request.headers.get("CF-Connecting-IP") ?? "");
  try {
    return withHeaders(await fetch(asked, { redirect: "manual" }), OF_ALL);
  } catch {
    return away();
  }
}

const file = (request, env) => (env.ASSETS ? env.ASSETS.fetch(request) : fetch(request));

function withHeaders(answer, headers) {
  const own = new Response(answer.body, answer);
  for (const [name, value] of Object.entries(headers)) own.headers.set(name, value);
  return own;
}
