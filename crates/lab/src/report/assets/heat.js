// A field of colours with its numbers: a table, so that it is read by all and scrolls when it is wide.

/** Speed-ups and other ratios have a middle: 1. */
const aroundOne = (figure, [low, high]) => ["×", "x", "ratio"].includes(figure.metric.unit) && low > 0 && low < 1 && high > 1;

const mixed = (amount, strong, weak) => `color-mix(in oklab, var(--${strong}) ${(amount * 100).toFixed(1)}%, var(--${weak}))`;

/** The colour of a value. */
const painter = (figure, extent) => {
  const [low, high] = extent;
  if (aroundOne(figure, extent)) {
    const reach = Math.max(Math.log(high), -Math.log(low));
    const good = figure.metric.better !== "lower";
    return (value) => {
      const way = Math.log(value) / reach;
      return mixed(Math.abs(way), (way > 0) === good ? "heat-high" : "heat-worse", "heat-middle");
    };
  }
  const log = low > 0 && (figure.log_y || high / low > 30);
  return (value) => mixed(Report.share(value, [low, high === low ? low + 1 : high], log), "heat-high", "heat-low");
};

/** Gives an element its colour, and black or white for its text: from lightness 0.56 on black has the better contrast. */
const paintOn = (element, paint) => {
  const probe = document.getElementById("probe");
  probe.style.color = paint;
  const lightness = Number(getComputedStyle(probe).color.match(/oklab\(([\d.]+)/)?.[1] ?? 1);
  element.style.background = paint;
  element.style.color = lightness < 0.56 ? "#fff" : "#000";
};

Report.drawHeat = (figure, panel, host, extent) => {
  const paint = painter(figure, extent);
  const head = Report.element("tr", {}, Report.element("td", { class: "corner" }, `${figure.x.name} →`), ...figure.x.ticks.map((tick) => Report.element("th", { scope: "col" }, tick.label)));
  const body = Report.element("tbody");
  let points = 0;
  figure.series.forEach((series, row) => {
    const line = Report.element("tr", {}, Report.element("th", { scope: "row" }, series.label));
    for (const tick of figure.x.ticks) {
      const here = (one) => one.series === row && one.at === tick.at;
      const point = panel.points.find(here);
      const gap = panel.gaps.find(here);
      const cell = Report.element("td");
      if (point) {
        const found = Report.measured(figure, point.cell);
        const { number, range, unit } = Report.brief(point.text);
        cell.append(Report.element("span", { class: "median" }, `${number} ${unit}`.trim()), Report.element("span", { class: "range" }, range));
        cell.title = `${series.label}, ${figure.x.name} ${tick.label}: ${point.text}`;
        paintOn(cell, paint(found.median));
        points += 1;
      } else if (gap) {
        cell.className = "unavailable";
        cell.textContent = "unavailable";
        cell.title = gap.text;
      } else {
        cell.textContent = "–";
        cell.title = "not among the cells";
      }
      for (const mark of panel.references.filter(here)) {
        const { number, unit } = Report.brief(mark.text);
        cell.append(Report.element("span", { class: "from" }, `◇ published ${number} ${unit}`));
        cell.title += `; published: ${mark.text}`;
      }
      line.append(cell);
    }
    body.append(line);
  });
  const table = Report.element("table", { class: "heat" }, Report.element("thead", {}, head), body);
  const key = Report.element("p", { class: "heat-key", "aria-hidden": "true" });
  const steps = [...Array(9).keys()].map((i) => {
    const logarithmic = extent[0] > 0;
    const value = logarithmic ? extent[0] * (extent[1] / extent[0]) ** (i / 8) : extent[0] + (extent[1] - extent[0]) * (i / 8);
    return paint(value);
  });
  key.append(Report.tick(extent[0], figure.scales), Report.element("i", { style: { background: `linear-gradient(90deg, ${steps.join(", ")})` } }), Report.tick(extent[1], figure.scales));
  host.append(key, Report.element("div", { class: "scroll heat-scroll", tabindex: 0, role: "region", "aria-label": figure.title }, table));
  return { points, remove: () => host.replaceChildren() };
};
