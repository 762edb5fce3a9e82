// Keeps the parts of a page that are marked by data-live up to date. Without this file a person reloads the page.

const RENEWAL = 2_000;

async function renew() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.pathname);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const newer = page.querySelector(`[data-live="${part.dataset.live}"]`);
        if (newer && newer.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) {
          part.replaceChildren(...newer.childNodes);
        }
      }
    } catch {
      // The sandbox has ended or starts again; what is shown stays until it answers.
    }
  }
  setTimeout(renew, RENEWAL);
}

setTimeout(renew, RENEWAL);
