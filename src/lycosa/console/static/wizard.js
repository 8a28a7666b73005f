"use strict";
// The wizard shows the fields of the chosen kind of topic, and asks for a new preview after whatever changes it.
(() => {
  const form = document.getElementById("wizard");
  if (!form) return;
  const choose = () => {
    const kind = form.elements.kind.value;
    form.querySelectorAll(".kind").forEach((part) => { part.hidden = part.dataset.kind !== kind; });
  };
  form.addEventListener("change", choose);
  form.addEventListener("submit", (event) => event.preventDefault()); // Enter in a field creates nothing
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful && event.target.closest("[data-then-preview]")) window.htmx.trigger(form, "preview");
  });
  choose();
  window.addEventListener("load", () => window.htmx.trigger(form, "preview"));
})();
