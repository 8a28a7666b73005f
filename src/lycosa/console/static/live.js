"use strict";
// The live view: the server sends the moving part of the page, and the curves grow by what it says.
(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const columns = ["pages", "harvest", "recent", "low", "middle", "high"];
  const curves = Object.fromEntries(columns.map((name) => [name, []]));
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const percent = (value) => (value === null || value === undefined ? "–" : `${Math.round(100 * value)} %`);
  let charts = [];

  const axes = () => [
    { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, values: (_, at) => at.map((v) => v.toLocaleString("en")) },
    { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, size: 52, values: (_, at) => at.map(percent) },
  ];
  const line = (label, stroke, more = {}) => ({ label, stroke, width: 2, points: { show: false }, value: (_, v) => percent(v), ...more });
  const draw = (place, series, data, bands = []) => {
    place.textContent = "";
    const options = {
      width: place.clientWidth, height: 240, series: [{ label: "Pages", value: (_, v) => (v === null ? "–" : v.toLocaleString("en")) }, ...series], axes: axes(), bands,
      scales: { x: { time: false, range: (_, low, high) => [0, Math.max(high, 1)] }, y: { range: [0, 1] } }, cursor: { drag: { x: false, y: false } },
    };
    return new window.uPlot(options, data, place);
  };
  const redraw = () => {
    charts.forEach((chart) => chart.destroy());
    const ink = color("--accent");
    charts = [
      draw(document.getElementById("harvest"), [line("All so far", ink), line("Last hundred", color("--warn"), { width: 1.5, dash: [5, 4] })], [curves.pages, curves.harvest, curves.recent]),
      draw(document.getElementById("recall"), [line("High", ink, { width: 0.5 }), line("Low", ink, { width: 0.5 }), line("Estimate", ink)],
        [curves.pages, curves.high, curves.low, curves.middle], [{ series: [1, 2], fill: color("--band") }]),
    ];
    table();
  };
  const table = () => {
    const body = document.querySelector("#curve-numbers tbody");
    const step = Math.max(1, Math.floor(curves.pages.length / 20));
    const rows = curves.pages.map((_, place) => place).filter((place) => place % step === 0 || place === curves.pages.length - 1);
    body.replaceChildren(...rows.map((place) => {
      const row = document.createElement("tr");
      columns.forEach((name) => {
        const cell = document.createElement("td");
        cell.className = "n";
        const value = curves[name][place];
        cell.textContent = name === "pages" ? value.toLocaleString("en") : percent(value);
        row.append(cell);
      });
      return row;
    }));
  };
  const grow = (now) => {
    const last = curves.pages[curves.pages.length - 1] || 0;
    if (now.crawl.pages <= last) return;
    curves.pages.push(now.crawl.pages);
    curves.harvest.push(now.crawl.harvest_rate);
    curves.recent.push(now.recent_harvest === null ? now.crawl.harvest_rate : now.recent_harvest);
    ["low", "middle", "high"].forEach((name) => curves[name].push(now[name] === undefined ? null : now[name]));
    if (!charts.length) { redraw(); return; }
    charts[0].setData([curves.pages, curves.harvest, curves.recent]);
    charts[1].setData([curves.pages, curves.high, curves.low, curves.middle]);
    table();
  };
  const load = async () => {
    const reply = await fetch(live.dataset.history);
    if (!reply.ok) return;
    const found = await reply.json();
    columns.forEach((name) => { curves[name] = found[name]; });
    if (curves.pages.length) redraw();
  };

  let source = null;
  const listen = () => {
    if (source || document.hidden) return;
    source = new EventSource(live.dataset.events);
    source.onmessage = (event) => {
      const { head, body, now } = JSON.parse(event.data);
      for (const [place, html] of [[live, head], [document.getElementById("lately"), body]]) {
        if (!place.contains(document.activeElement)) place.innerHTML = html; // nobody loses what the keyboard is at
      }
      document.title = `${now.crawl.pages.toLocaleString("en")} pages · ${now.crawl.name} · Lycosa`;
      live.dataset.pages = now.crawl.pages;
      grow(now);
    };
  };
  const hush = () => { if (source) { source.close(); source = null; } };
  // browsers allow six connections to one server, so that tabs nobody looks at must not keep theirs
  document.addEventListener("visibilitychange", () => { if (document.hidden) hush(); else listen(); });
  window.addEventListener("pagehide", hush);
  window.addEventListener("resize", () => charts.forEach((chart) => chart.setSize({ width: chart.root.parentElement.clientWidth, height: 240 })));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (charts.length) redraw(); });
  load().finally(listen);
})();
