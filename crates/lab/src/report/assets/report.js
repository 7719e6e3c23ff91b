// Puts the plots into their figures, and keeps them right when the window or the theme changes.

/** The panels of a figure with their headings. */
const panelsOf = (figure, canvas) => {
  const many = figure.panels.length > 1;
  const box = Report.element("div", { class: `panels${figure.kind === "lines" ? "" : " bars-panels"}` });
  const hosts = figure.panels.map((panel) => {
    const host = Report.element("div", { class: "panel" });
    const wrap = Report.element("div", {});
    if (panel.title) wrap.append(Report.element("h4", {}, panel.title));
    wrap.append(host);
    box.append(wrap);
    return host;
  });
  canvas.append(box);
  return { hosts, many };
};

/** A legend whose entries hide and show their lines. */
const legendOf = (figure, hidden, toggle) => {
  const list = Report.element("ul", { class: "legend" });
  figure.series.forEach((series, index) => {
    const button = Report.element("button", { type: "button", "aria-pressed": "true" }, Report.swatch(Report.look(figure, index)), series.label);
    button.addEventListener("click", () => {
      if (hidden.has(index)) hidden.delete(index);
      else hidden.add(index);
      button.setAttribute("aria-pressed", String(!hidden.has(index)));
      toggle(index);
    });
    list.append(Report.element("li", {}, button));
  });
  return list;
};

/** Draws a figure. The drawing can be resized, and be made again in other colours. */
const draw = (figure, element) => {
  const canvas = element.querySelector(".canvas");
  const total = figure.panels.reduce((sum, panel) => sum + panel.points.length + panel.references.length, 0);
  const drawn = new Set(figure.panels.flatMap((panel) => panel.references.map((mark) => mark.reference)));
  element.dataset.references = String(drawn.size);
  element.dataset.points = "0";
  if (total === 0) {
    const reason = figure.missing.length === 1 ? figure.missing[0].reason : "nothing of this was measured; the reasons are below";
    canvas.append(Report.element("p", { class: "empty unavailable" }, reason));
    return { resize() {}, redraw() {} };
  }
  const hidden = new Set();
  let panels = [];
  if (figure.kind === "lines") canvas.append(legendOf(figure, hidden, (index) => panels.forEach((panel) => panel.toggle(index))));
  const { hosts, many } = panelsOf(figure, canvas);
  const extent = Report.extent(figure);
  const make = () => {
    panels = figure.panels.map((panel, index) => {
      const host = hosts[index];
      if (panel.points.length + panel.references.length === 0) {
        host.append(Report.element("p", { class: "empty unavailable" }, panel.gaps[0]?.text ?? "nothing was measured here"));
        return { points: 0, toggle() {}, resize() {}, remove: () => host.replaceChildren() };
      }
      if (figure.kind === "heat") {
        const values = figure.panels.flatMap((one) => one.points.map((point) => Report.measured(figure, point.cell).median));
        return Report.drawHeat(figure, panel, host, values.length ? [Math.min(...values), Math.max(...values)] : [0, 1]);
      }
      if (figure.kind === "bars") return Report.drawBars(figure, panel, host, Report.range(extent, figure.log_y, true));
      const words = `${figure.title}${panel.title ? `, ${panel.title}` : ""}: ${panel.points.length} points. Arrow keys read the values; the table below has them all.`;
      host.tabIndex = 0;
      host.setAttribute("role", "group");
      host.setAttribute("aria-label", words);
      const range = figure.range ?? Report.range(extent, figure.log_y, false);
      return Report.drawLines(figure, panel, host, { hidden, range, height: many ? 300 : Math.min(400, 240 + host.clientWidth * 0.12) });
    });
    element.dataset.points = String(panels.reduce((sum, panel) => sum + panel.points, 0));
  };
  make();
  return {
    resize: () => panels.forEach((panel) => panel.resize?.()),
    redraw: () => {
      panels.forEach((panel) => panel.remove());
      make();
    },
  };
};

/** The canaries as a figure like the others: each value as a share of its canary's median. */
const canaryFigure = () => {
  const { canaries } = Report.results;
  const long = canaries.some((canary) => canary.at.some((at) => at > 120));
  const unit = long ? { factor: 60, name: "min" } : { factor: 1, name: "s" };
  const values = [];
  const points = canaries.flatMap((canary, series) => canary.at.map((seconds, index) => {
    const median = canary.values[index] / (canary.interval?.median ?? canary.values[0]);
    const cell = values.push({ median, low: median, high: median }) - 1;
    return { series, at: seconds / unit.factor, cell, text: `${Report.significant(canary.values[index])} ${canary.unit}` };
  }));
  const last = Math.max(0, ...points.map((point) => point.at));
  return {
    kind: "lines", title: "Canaries", values, scales: [], log_y: false, missing: [], notes: [],
    tick: (value) => `${Number((value * 100).toFixed(1))} %`,
    x: {
      name: "time since the beginning of the run", unit: unit.name, words: false, log: false,
      ticks: last ? Report.linearTicks(0, last, 8).map((at) => ({ at, label: `${at} ${unit.name}`, number: true })) : [],
    },
    series: canaries.map((canary) => ({ label: canary.name, published: false, like: null })),
    panels: [{ title: "", points, references: [], gaps: [] }],
  };
};

const drawCanaries = () => {
  const figure = canaryFigure();
  const element = document.getElementById("canaries");
  if (!figure.values.length) {
    element.querySelector(".canvas").append(Report.element("p", { class: "empty unavailable" }, "unavailable: no canary was run"));
    return { resize() {}, redraw() {} };
  }
  return draw(figure, element);
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);

const start = () => {
  const drawings = Report.figures.map((figure) => draw(figure, document.querySelector(`figure[data-experiment="${CSS.escape(figure.experiment)}"][data-plot="${figure.index}"]`)));
  drawings.push(drawCanaries());
  const redraw = () => drawings.forEach((drawing) => drawing.redraw());
  const button = document.getElementById("theme");
  const name = () => { button.querySelector("span").textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
    redraw();
  });
  dark.addEventListener("change", () => { name(); redraw(); });
  // Paper is light, and narrower than most windows: plots are drawn for its width.
  let before = "";
  addEventListener("beforeprint", () => {
    before = root.dataset.theme ?? "";
    root.dataset.theme = "light";
    root.dataset.paper = "";
    redraw();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    delete root.dataset.paper;
    redraw();
  });
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    drawings.forEach((drawing) => drawing.resize());
  }).observe(root);
  name();
  root.dataset.ready = "true";
};

start();
