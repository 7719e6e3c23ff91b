"use strict";
// What all drawings share: the data, elements, numbers as words, and how a series looks.

const Report = {
  results: JSON.parse(document.getElementById("results").textContent),
  figures: JSON.parse(document.getElementById("figures").textContent),
};

/** An element with attributes and children; text is never markup. */
Report.element = (tag, attributes = {}, ...children) => {
  const svg = ["svg", "path", "line"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

/** Three significant digits; whole numbers below 1000 as they are. */
Report.significant = (value) => {
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1000) return String(value);
  const exponent = Number(value.toExponential(2).split("e")[1]);
  if (exponent < -4 || exponent > 9) return value.toExponential(2);
  return Number(value.toPrecision(3)).toFixed(Math.max(0, 2 - exponent));
};

/** The label of a tick: in the largest multiple of the unit that leaves at least 1, without superfluous zeros. */
Report.tick = (value, scales) => {
  const own = scales.find((scale) => scale.factor === 1);
  const fitting = scales.filter((scale) => Math.abs(value) >= scale.factor * 0.9995).pop() ?? scales[0];
  const scale = value === 0 ? own : fitting;
  return `${Number((value / scale.factor).toPrecision(3))} ${Report.short(scale.unit)}`.trim();
};

/** A unit as ticks have room for it: its prefix for counts, the unit itself for times and sizes. */
Report.short = (unit) => {
  const head = unit.split(/[/ ]/)[0];
  return head.length <= 2 || head === "ratio" ? head : "";
};

/** A written value with a unit as short as a tick's: `404 [394, 412] M` of `404 [394, 412] M objects/s`. */
Report.brief = (text) => {
  const [, number, range, unit] = text.match(/^(\S+)( \[.*?\])? ?(.*)$/);
  return { number, range: (range ?? "").trim(), unit: Report.short(unit) };
};

/** What was measured of a metric in a cell. A figure that is not about cells brings its values along. */
Report.measured = (figure, cell) => {
  if (figure.values) return figure.values[cell];
  const experiment = Report.results.experiments.find((one) => one.declaration.name === figure.experiment);
  return experiment.cells[cell].metrics[figure.metric.key];
};

/** What was published. */
Report.published = (figure, reference) => {
  const experiment = Report.results.experiments.find((one) => one.declaration.name === figure.experiment);
  return experiment.declaration.references[reference].value;
};

/** A colour of the style sheet as it is now, light or dark. */
Report.colour = (name) => {
  const probe = document.getElementById("probe");
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
};

/** The same colour, fainter. */
Report.faint = (colour, alpha) => `color-mix(in srgb, ${colour} ${alpha * 100}%, transparent)`;

// Marks in a box from -1 to 1, as SVG paths, for canvas and legend alike.
Report.marks = [
  "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z",
  "M-.9-.9h1.8v1.8h-1.8z",
  "M0-1.15L1.1.85h-2.2z",
  "M0-1.25L1.1 0L0 1.25L-1.1 0z",
  "M0 1.15L1.1-.85h-2.2z",
  "M-1.1-.35h.75v-.75h.7v.75h.75v.7h-.75v.75h-.7v-.75h-.75z",
];
Report.dashes = [[], [10, 3], [3, 3], [12, 3, 3, 3]];
Report.hues = 8;

/** How a series looks: hue and mark together, and a dash where hues come round again. */
Report.look = (figure, index) => {
  const series = figure.series[index];
  const measured = series.published ? series.like : index;
  const nth = figure.series.slice(0, index).filter((other) => other.published).length;
  const none = measured === null || measured === undefined;
  return {
    variable: none ? "muted" : `series-${measured % Report.hues}`,
    round: none ? 0 : Math.floor(measured / Report.hues),
    dash: series.published ? [5, 4] : Report.dashes[none ? 0 : Math.floor(measured / Report.hues) % Report.dashes.length],
    mark: Report.marks[(none ? nth : measured) % Report.marks.length],
    hollow: series.published,
  };
};

/** A sample of a series for a legend. */
Report.swatch = (look) => {
  const colour = `var(--${look.variable})`;
  const line = Report.element("line", { x1: 0, y1: 7, x2: 30, y2: 7, stroke: colour, "stroke-width": look.hollow ? 1.5 : 2 });
  if (look.dash.length) line.setAttribute("stroke-dasharray", look.dash.join(" "));
  const mark = Report.element("path", {
    d: look.mark, transform: "translate(15 7) scale(4.2)", fill: look.hollow ? "var(--paper)" : colour,
    stroke: colour, "stroke-width": 0.4,
  });
  return Report.element("svg", { width: 30, height: 14, "aria-hidden": "true" }, line, mark);
};
