"use strict";
// What every page needs: errors of htmx requests are shown as one line instead of being lost.
(() => {
  const say = (words, isError = true) => {
    const place = document.getElementById("message");
    if (!place) return;
    place.textContent = words;
    place.classList.toggle("error", isError);
    window.clearTimeout(say.timer);
    say.timer = window.setTimeout(() => { place.textContent = ""; }, 8000);
  };
  window.lycosa = { say };
  document.addEventListener("htmx:responseError", (event) => {
    const reply = event.detail.xhr;
    const isText = (reply.getResponseHeader("Content-Type") || "").startsWith("text/plain");
    say(isText ? reply.responseText : `The console answered with an error (${reply.status}).`);
  });
  // what scrolls sideways must be reachable with the keyboard
  const reachable = () => document.querySelectorAll(".scroll").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
  });
  // on a phone the list of views scrolls: show where we are
  window.addEventListener("load", () => document.querySelectorAll("nav [aria-current]").forEach((link) => {
    const bar = link.closest("ul");
    bar.scrollLeft = link.offsetLeft - bar.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2;
  }));
  window.addEventListener("load", reachable);
  window.addEventListener("resize", reachable);
  document.addEventListener("htmx:afterSettle", reachable);
  document.addEventListener("htmx:sendError", () => say("The console does not answer. Is it still running?"));
})();
