// Bars that lie, so that their names have room: a group for each place, a row for each series, whiskers for intervals.
// On a logarithmic scale a bar's length means nothing; there a dot marks the median.

Report.drawBars = (figure, panel, host, range) => {
  const log = figure.log_y;
  const percent = (value) => `${(100 * Report.share(value, range, log)).toFixed(3)}%`;
  const ticks = Report.ticks(range[0], range[1], log, Math.max(3, Math.min(6, host.clientWidth / 60)));
  const rules = () => ticks.map((tick) => Report.element("span", { class: "rule", style: { left: percent(tick) } }));
  const box = Report.element("div", { class: "bars" });
  let points = 0;

  const row = (entry, track, beside, extra = "") => {
    const label = figure.series[entry.series].label;
    return Report.element("div", { class: `bar-row ${extra}` },
      Report.element("span", { class: "of" }, label), track, beside);
  };
  const amount = (entry) => {
    const { number, range, unit } = Report.brief(entry.text);
    return Report.element("span", { class: "amount" }, Report.element("b", {}, number), ` ${range} ${unit}`);
  };
  const measured = (point) => {
    const found = Report.measured(figure, point.cell);
    const look = Report.look(figure, point.series);
    const track = Report.element("span", { class: "track" }, ...rules());
    track.style.setProperty("--tone", `var(--${look.variable})`);
    const bar = Report.element("span", { class: `bar${log ? " stem" : ""}${look.round && !log ? " pattern" : ""}`, style: { width: percent(found.median) } });
    const whisker = Report.element("span", { class: "whisker", style: { left: percent(found.low), width: `calc(${percent(found.high)} - ${percent(found.low)})` } });
    track.append(bar);
    track.append(whisker);
    if (log) track.append(Report.element("span", { class: `dot${look.round ? " square" : ""}`, style: { left: percent(found.median) } }));
    points += 1;
    const line = row(point, track, amount(point));
    const count = figure.values ? "" : `, ${found.values.length} values`;
    line.title = `${figure.series[point.series].label}: ${point.text}${count}`;
    return line;
  };
  const published = (mark) => {
    const value = Report.published(figure, mark.reference);
    const look = Report.look(figure, mark.series);
    const track = Report.element("span", { class: "track" }, ...rules(),
      Report.element("span", { class: "published", style: { width: percent(value) } }),
      Report.element("span", { class: "diamond", style: { left: percent(value) } }));
    track.style.setProperty("--tone", `var(--${look.variable})`);
    return row(mark, track, amount(mark), "reference");
  };
  const gap = (entry) => row(entry, "", Report.element("span", { class: "amount unavailable" }, entry.text));
  const group = (title, entries) => {
    if (!entries.length) return;
    box.append(Report.element("p", { class: "bar-group" }, title), ...entries.map((entry) => entry.draw(entry.one)));
  };

  const axis = Report.element("div", { class: "bar-axis", "aria-hidden": "true" }, Report.element("span"),
    Report.element("span", { class: "ticks" }, ...ticks.map((tick) => Report.element("span", { style: { left: percent(tick) } }, Report.tick(tick, figure.scales)))));
  box.append(axis);
  const all = [
    ...panel.points.map((one) => ({ one, draw: measured })),
    ...panel.gaps.map((one) => ({ one, draw: gap })),
    ...panel.references.map((one) => ({ one, draw: published })),
  ];
  for (const tick of figure.x.ticks) {
    const here = all.filter(({ one }) => one.at === tick.at);
    here.sort((a, b) => a.one.series - b.one.series);
    group(`${figure.x.name} ${tick.label}`, here);
  }
  group(`published, ${figure.x.name} not given`, all.filter(({ one }) => one.at === null));
  host.append(box);
  // Where the names of two ticks would run into each other, the rule of the second one has to do.
  let end = -Infinity;
  for (const label of axis.querySelectorAll(".ticks span")) {
    const { left, right } = label.getBoundingClientRect();
    if (left < end + 4) label.remove();
    else end = right;
  }
  return { points, remove: () => host.replaceChildren() };
};
