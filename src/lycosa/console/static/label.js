"use strict";
// Keys y, n, s and u press the buttons of the same name. Until the next page is shown they do nothing: nobody labels a
// page unseen. Its buttons work a moment after it is shown, and a key pressed meanwhile is kept until then.
(() => {
  const FREE = 0, SENT = 1, SHOWN = 2;
  let state = FREE;
  let kept = "";
  const press = (key) => {
    const button = document.querySelector(`.keys button[value="${CSS.escape(key)}"]`);
    if (!button || button.disabled) return false;
    state = SENT;
    button.click();
    return true;
  };
  document.addEventListener("htmx:afterSwap", () => { state = SHOWN; });
  ["htmx:afterSettle", "htmx:responseError", "htmx:sendError"].forEach((name) => document.addEventListener(name, () => {
    const key = kept;
    state = FREE;
    kept = "";
    if (key) press(key);
  }));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || state === SENT) return;
    if (event.target instanceof Element && event.target.closest("input:not([type=hidden]), textarea, select")) return;
    const key = event.key.toLowerCase();
    if (state === SHOWN) kept = key;
    else if (press(key)) event.preventDefault();
  });
})();
