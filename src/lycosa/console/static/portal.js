"use strict";
// Remembers in this browser when each crawl's pages were last looked at, and offers it as "new since your last look".
(() => {
  const option = document.querySelector("option[data-last-look]");
  if (!option) return;
  const key = `lycosa-look-${option.dataset.lastLook}`;
  const session = `${key}-now`;
  let last = null;
  try {
    if (!sessionStorage.getItem(session)) {
      sessionStorage.setItem(session, localStorage.getItem(key) || "none");
    }
    last = sessionStorage.getItem(session);
    localStorage.setItem(key, String(Math.floor(Date.now() / 1000)));
  } catch (error) {
    return; // storage is switched off
  }
  if (last && last !== "none") {
    option.value = last;
    option.hidden = false;
    option.textContent = `your last look (${new Date(1000 * Number(last)).toLocaleString()})`;
  }
})();
