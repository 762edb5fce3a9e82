// Signing an account in: the person does it in another tab, and the server hears of it by itself.
import { write } from "./server.js";

const BLOCKED = "The browser has blocked the new tab: allow it for this page, and press again.";

/** Open the page where the person signs in; return whether it was opened. */
export async function signIn(account, announce) {
  const tab = window.open("about:blank"); // at once: a browser blocks a tab that opens later by itself
  if (!tab) {
    announce(BLOCKED);
    return false;
  }
  announce(`Preparing the sign-in of ${account}…`);
  try {
    const { address } = await write("/api/comms/sign-in", { account });
    tab.opener = null;
    tab.location.replace(address);
    announce(`Sign in as ${account} in the other tab. The list is read again when that is done.`);
    return true;
  } catch (error) {
    tab.close();
    announce(`No sign-in. ${error.message}`);
    return false;
  }
}
