// The keys: single letters that act on the current row, or on the selected rows. They rest while the person types.

const OFF = "orrery.keys-off";
const toggle = document.getElementById("single-keys");
const desk = document.getElementById("desk");

function stored() {
  try {
    return localStorage.getItem(OFF) !== null;
  } catch {
    return false; // storage is off: the keys act until they are switched off
  }
}

function store(isOff) {
  try {
    if (isOff) localStorage.setItem(OFF, "1");
    else localStorage.removeItem(OFF);
  } catch {
    // storage is off: the choice holds as long as this page
  }
}

const FIELDS = 'textarea, select, [contenteditable], input:not([type="checkbox"])';
const types = (element) => Boolean(element.closest?.(FIELDS));

/** Call the act of a key. `acts` maps keys to acts; those in `repeats` also act while the key is held down. */
export function listen(acts, repeats, leave) {
  toggle.checked = !stored();
  toggle.addEventListener("change", () => store(!toggle.checked));
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.defaultPrevented || desk.hidden || document.querySelector("dialog[open]")) return;
    if (key === "Escape") {
      leave(target);
      event.preventDefault();
      return;
    }
    if (types(target) || (key === "Enter" && target.closest?.("button, a, summary, input, label"))) return;
    const name = key.length === 1 && !event.shiftKey ? key.toLowerCase() : key;
    const isSingle = name.length === 1;
    if (!Object.hasOwn(acts, name) || (isSingle && !toggle.checked)) return;
    event.preventDefault();
    if (!event.repeat || repeats.has(name)) acts[name]();
  });
}
