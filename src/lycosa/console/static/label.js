"use strict";
// Keys y, n, s and u press the buttons of the same name. Until the next page is shown they do nothing: nobody labels a
// page unseen.
(() => {
  let isBusy = false;
  const free = () => { isBusy = false; };
  ["htmx:afterSwap", "htmx:responseError", "htmx:sendError"].forEach((name) => document.addEventListener(name, free));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isBusy) return;
    if (event.target instanceof Element && event.target.closest("input:not([type=hidden]), textarea, select")) return;
    const button = document.querySelector(`.keys button[value="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!button || button.disabled) return;
    event.preventDefault();
    isBusy = true;
    button.click();
  });
})();
