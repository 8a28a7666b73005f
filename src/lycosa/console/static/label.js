"use strict";
// Keys y, n, s and u press the buttons of the same name.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target instanceof Element && event.target.closest("input:not([type=hidden]), textarea, select")) return;
  const button = document.querySelector(`.keys button[value="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!button || button.disabled || document.querySelector(".htmx-request")) return;
  event.preventDefault();
  button.click();
});
