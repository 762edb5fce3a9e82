// The analytics page: the slider acts while it is moved, and quotas and requests are kept up to date.
// Without this file the form's button does the same.

const RENEWAL = 2_000;

function follow(form) {
  const slider = form.elements.count;
  const shown = form.querySelector("output");
  let sending = false;
  let again = false;

  async function send() {
    if (sending) {
      again = true;
      return;
    }
    sending = true;
    do {
      again = false;
      await post(form.action, { count: Number(slider.value) });
    } while (again);
    sending = false;
  }

  slider.addEventListener("input", () => {
    shown.value = slider.value;
    send();
  });
  form.querySelector("button").hidden = true;
}

async function post(address, given) {
  try {
    await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(given),
    });
  } catch {
    // The sandbox has ended; the next movement tries again.
  }
}

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

document.querySelectorAll("form[data-follow]").forEach(follow);
setTimeout(renew, RENEWAL);
