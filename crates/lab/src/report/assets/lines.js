// Lines through medians with their intervals as bands; published values dashed and hollow.

/** Text widths, for axes that fit their labels. */
Report.textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text) => {
    context.font = Report.font;
    return context.measureText(text).width;
  };
})();
Report.font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif';

/** The ticks across that have room: the outermost first, then what fits between. */
Report.placesWithRoom = (plot, axis) => {
  const { min, max } = plot.scales.x;
  const ticks = axis.ticks.filter((tick) => tick.at >= min && tick.at <= max);
  const taken = [];
  const room = (tick) => {
    const half = Report.textWidth(tick.label) / 2 + 5;
    const centre = plot.valToPos(tick.at, "x");
    const free = taken.every(([from, to]) => centre + half <= from || centre - half >= to);
    if (free) taken.push([centre - half, centre + half]);
    return free;
  };
  const last = ticks.length - 1;
  const shown = ticks.filter((tick, index) => (index === 0 || index === last) && room(tick));
  shown.push(...ticks.filter((tick, index) => index > 0 && index < last && room(tick)));
  return shown.map((tick) => tick.at).sort((a, b) => a - b);
};

/** The data of a panel, in the columns that uPlot wants: places, then low, high and median of each series. */
Report.columns = (figure, panel) => {
  const places = new Set([...panel.points, ...panel.references].map((one) => one.at).filter((at) => at !== null));
  // Where there is nothing but values that hold everywhere, the places are the other panels'.
  const xs = (places.size ? [...places] : figure.x.ticks.map((tick) => tick.at)).sort((a, b) => a - b);
  const at = new Map(xs.map((x, index) => [x, index]));
  const empty = () => xs.map(() => null);
  const columns = [];
  figure.series.forEach((series, index) => {
    const own = { index, published: series.published, low: empty(), high: empty(), median: empty(), level: [] };
    if (series.published) {
      for (const mark of panel.references.filter((one) => one.series === index)) {
        const value = Report.published(figure, mark.reference);
        if (mark.at === null) own.level.push(value);
        else own.median[at.get(mark.at)] = value;
      }
    } else {
      for (const point of panel.points.filter((one) => one.series === index)) {
        const found = Report.measured(figure, point.cell);
        own.low[at.get(point.at)] = found.low;
        own.high[at.get(point.at)] = found.high;
        own.median[at.get(point.at)] = found.median;
      }
    }
    columns.push(own);
  });
  return { xs, columns };
};

/** Lines do not lead from a number to a word: such steps have no length. */
const stepsToWords = (axis, xs) => (plot) => {
  const word = (at) => axis.words && !axis.ticks.find((tick) => tick.at === at)?.number;
  const gaps = [];
  for (let i = 1; i < xs.length; i++) {
    if (word(xs[i]) !== word(xs[i - 1])) gaps.push([plot.valToPos(xs[i - 1], "x", true) + 1, plot.valToPos(xs[i], "x", true) - 1]);
  }
  return gaps;
};

/** Marks, the intervals of points without neighbours, and values that hold everywhere, drawn over the lines. */
const drawMarks = (plot, figure, columns, hidden) => {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  const y = (value) => plot.valToPos(figure.log_y ? Math.max(value, plot.scales.y.min) : value, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left - 8 * ratio, plot.bbox.top - 8 * ratio, plot.bbox.width + 16 * ratio, plot.bbox.height + 16 * ratio);
  ctx.clip();
  const paper = Report.colour("paper");
  for (const own of columns) {
    if (hidden.has(own.index)) continue;
    const look = Report.look(figure, own.index);
    ctx.strokeStyle = Report.colour(look.variable);
    ctx.fillStyle = look.hollow ? paper : ctx.strokeStyle;
    for (const value of own.level) {
      ctx.lineWidth = 1.5 * ratio;
      ctx.setLineDash(look.dash.map((length) => length * ratio));
      ctx.beginPath();
      ctx.moveTo(plot.bbox.left, y(value));
      ctx.lineTo(plot.bbox.left + plot.bbox.width, y(value));
      ctx.stroke();
    }
    ctx.setLineDash([]);
    const mark = new Path2D(look.mark);
    plot.data[0].forEach((at, i) => {
      if (own.median[i] === null || at < plot.scales.x.min || at > plot.scales.x.max) return;
      const centre = plot.valToPos(at, "x", true);
      if (own.low[i] !== null) {
        ctx.lineWidth = 1.2 * ratio;
        ctx.beginPath();
        ctx.moveTo(centre, y(own.low[i]));
        ctx.lineTo(centre, y(own.high[i]));
        ctx.stroke();
      }
      const size = (own.dense ? 2.2 : 4) * ratio;
      ctx.save();
      ctx.translate(centre, y(own.median[i]));
      ctx.scale(size, size);
      ctx.lineWidth = look.hollow ? 0.45 : 0.2;
      ctx.fill(mark);
      ctx.stroke(mark);
      ctx.restore();
    });
  }
  ctx.restore();
};

/** What is at a place, for reading: the nearest to the pointer first in weight. */
const tipFor = (figure, panel, hidden) => {
  const tip = Report.element("div", { class: "tip", role: "status", hidden: "" });
  const show = (plot) => {
    const { idx, left, top } = plot.cursor;
    if (idx === null || idx === undefined || left < 0) {
      tip.hidden = true;
      return;
    }
    const at = plot.data[0][idx];
    const entries = [];
    for (const point of panel.points) {
      if (point.at === at && !hidden.has(point.series)) entries.push({ ...point, value: Report.measured(figure, point.cell).median });
    }
    for (const mark of panel.references) {
      if ((mark.at === at || mark.at === null) && !hidden.has(mark.series)) entries.push({ ...mark, value: Report.published(figure, mark.reference) });
    }
    entries.sort((a, b) => b.value - a.value);
    const distance = (entry) => Math.abs(plot.valToPos(entry.value, "y") - top);
    const near = entries.reduce((best, entry) => (!best || distance(entry) < distance(best) ? entry : best), null);
    const label = figure.x.ticks.find((tick) => tick.at === at)?.label ?? `${Report.significant(at)} ${figure.x.unit ?? ""}`;
    tip.replaceChildren(Report.element("p", {}, `${figure.x.name} ${label}`));
    for (const entry of entries) {
      const name = figure.series[entry.series].label;
      tip.append(Report.element("div", { class: entry === near ? "near" : "" }, Report.swatch(Report.look(figure, entry.series)),
        Report.element("span", { class: "of" }, name), Report.element("span", {}, entry.text)));
    }
    tip.hidden = entries.length === 0;
    // Beside the pointer where the window has room, else below the plot.
    const box = plot.over;
    const from = plot.root.getBoundingClientRect().left;
    const x = box.offsetLeft + left;
    const wide = tip.offsetWidth;
    const last = document.documentElement.clientWidth - 8 - wide - from;
    const beside = x + 16 <= last ? x + 16 : x - 16 - wide + from >= 8 ? x - 16 - wide : null;
    tip.style.left = `${beside ?? Math.max(8 - from, Math.min(x - wide / 2, last))}px`;
    tip.style.top = `${beside === null ? box.offsetTop + box.clientHeight + 30 : box.offsetTop + Math.min(top + 12, box.clientHeight)}px`;
  };
  return { tip, show };
};

/** Draws a panel into an element; returns what a resize, a new theme or a click in the legend needs. */
Report.drawLines = (figure, panel, host, options) => {
  const { hidden, range, height } = options;
  const { xs, columns } = Report.columns(figure, panel);
  for (const own of columns) own.dense = host.clientWidth / xs.length < 16;
  const axis = figure.x;
  const ink = Report.colour("muted");
  const gaps = stepsToWords(axis, xs);
  const floor = (values) => values.map((value) => (value !== null && figure.log_y ? Math.max(value, range[0]) : value));
  const series = [{}];
  const data = [xs];
  const bands = [];
  for (const own of columns) {
    const look = Report.look(figure, own.index);
    const colour = Report.colour(look.variable);
    own.lines = [];
    const add = (values, extra) => {
      own.lines.push(series.length);
      series.push({ show: !hidden.has(own.index), spanGaps: false, gaps, points: { show: false }, ...extra });
      data.push(floor(values));
    };
    if (!own.published) {
      add(own.low, { stroke: "transparent", width: 0 });
      add(own.high, { stroke: "transparent", width: 0 });
      bands.push({ series: [series.length - 1, series.length - 2], fill: Report.faint(colour, 0.18) });
    }
    add(own.median, { stroke: colour, width: own.published ? 1.5 : own.dense ? 1 : 2, dash: look.dash });
  }
  const { tip, show } = tipFor(figure, panel, hidden);
  const ends = axis.words ? [-0.5, axis.ticks.length - 0.5] : (() => {
    const all = axis.ticks.map((tick) => tick.at).concat(xs);
    return Report.range([Math.min(...all), Math.max(...all)], axis.log, false).map((end, i) => (axis.log || i ? end : Math.min(...all) - (Math.max(...all) - Math.min(...all)) * 0.03));
  })();
  const yLabel = (value) => (figure.tick ? figure.tick(value) : Report.tick(value, figure.scales));
  const grid = { stroke: Report.colour("grid"), width: 1 };
  const plot = new uPlot({
    width: Math.max(200, host.clientWidth),
    height,
    padding: [10, 14, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, distr: axis.log ? 3 : 1, range: (u, min, max) => (min === xs[0] && max === xs[xs.length - 1] ? ends : [min, max]) },
      y: { distr: figure.log_y ? 3 : 1, range: () => range },
    },
    axes: [
      {
        stroke: ink, font: Report.font, grid, ticks: { ...grid, size: 5 }, size: 30, gap: 4,
        splits: (u) => Report.placesWithRoom(u, axis),
        filter: (u, splits) => splits,
        values: (u, splits) => splits.map((at) => axis.ticks.find((tick) => tick.at === at)?.label ?? ""),
      },
      {
        stroke: ink, font: Report.font, grid, ticks: { ...grid, size: 5 }, gap: 4,
        splits: (u) => Report.ticks(u.scales.y.min, u.scales.y.max, figure.log_y, height / 50),
        filter: (u, splits) => splits,
        values: (u, splits) => splits.map(yLabel),
        size: (u, values) => 12 + Math.max(20, ...(values ?? []).map(Report.textWidth)),
      },
    ],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
    series,
    bands,
    hooks: { draw: [(u) => drawMarks(u, figure, columns, hidden)], setCursor: [show] },
  }, data, host);
  plot.root.append(tip);
  plot.root.querySelector("canvas").setAttribute("aria-hidden", "true");
  plot.over.addEventListener("mouseleave", () => { tip.hidden = true; });
  host.append(Report.element("p", { class: "x-name" }, axis.name));
  host.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const idx = Math.min(xs.length - 1, Math.max(0, (plot.cursor.idx ?? (step > 0 ? -1 : xs.length)) + step));
    plot.setCursor({ left: plot.valToPos(xs[idx], "x"), top: plot.over.clientHeight / 2 });
  };
  host.onblur = () => { tip.hidden = true; };
  return {
    points: columns.filter((own) => !own.published).reduce((sum, own) => sum + own.median.filter((value) => value !== null).length, 0),
    resize: () => plot.setSize({ width: Math.max(200, host.clientWidth), height }),
    toggle: (index) => {
      for (const line of columns[index].lines) plot.setSeries(line, { show: !hidden.has(index) });
    },
    remove: () => { plot.destroy(); host.replaceChildren(); },
  };
};
