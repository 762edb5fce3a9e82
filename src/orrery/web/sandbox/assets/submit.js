// Sends the page's one form by itself. Without this file a person presses its button.

document.forms[0].submit();
