"use strict";
// Draws the curves of a report; each can be switched on and off in the legend.
(() => {
  const COLOURS = ["#0b6b64", "#c2570c", "#5b5bd6", "#a5242c", "#4d7c0f", "#8a5200", "#b3408f", "#55626a"];
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const places = [...document.querySelectorAll(".curve[data-chart]")];
  if (!places.length || !window.uPlot) return;

  const joined = (curves) => {
    const xs = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
    const at = new Map(xs.map((x, index) => [x, index]));
    return [xs, ...curves.map((curve) => {
      const ys = new Array(xs.length).fill(undefined);
      curve.x.forEach((x, index) => { ys[at.get(x)] = curve.y[index]; });
      return ys;
    })];
  };

  const draw = (place, chart) => {
    const ink = getComputedStyle(document.body).color;
    const line = getComputedStyle(document.documentElement).getPropertyValue("--line").trim();
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const options = {
      width: Math.max(280, place.clientWidth),
      height: 320,
      scales: { x: { time: false } },
      axes: [{ ...axis, label: chart.xlabel }, { ...axis, label: chart.ylabel, size: 60 }],
      series: [{ label: chart.xlabel }, ...chart.curves.map((curve, index) => ({
        label: curve.name,
        stroke: COLOURS[index % COLOURS.length],
        dash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length],
        width: 2,
        spanGaps: true,
        points: { show: false },
        value: (_, value) => (value == null ? "–" : value.toFixed(3)),
      }))],
    };
    const plot = new window.uPlot(options, joined(chart.curves), place);
    window.addEventListener("resize", () => plot.setSize({ width: Math.max(280, place.clientWidth), height: 320 }));
  };

  fetch(places[0].dataset.report, { credentials: "same-origin" })
    .then((reply) => reply.json())
    .then((report) => places.forEach((place) => draw(place, report.charts[Number(place.dataset.chart)])))
    .catch(() => window.lycosa && window.lycosa.say("The curves could not be read."));
})();
