// The analytics page: the slider acts while it is moved. Without this file the form's button does the same.

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

document.querySelectorAll("form[data-follow]").forEach(follow);
