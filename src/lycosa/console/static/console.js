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
  document.addEventListener("htmx:sendError", () => say("The console does not answer. Is it still running?"));
})();
