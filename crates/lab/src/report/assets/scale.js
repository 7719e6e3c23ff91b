// Ranges of values and the ticks on them.

/** The smallest and largest of what is drawn; intervals and published values too. */
Report.extent = (figure, panels = figure.panels) => {
  const values = [];
  for (const panel of panels) {
    for (const point of panel.points) {
      const found = Report.measured(figure, point.cell);
      values.push(found.low, found.median, found.high);
    }
    for (const mark of panel.references) values.push(Report.published(figure, mark.reference));
  }
  const usable = figure.log_y ? values.filter((value) => value > 0) : values;
  return usable.length ? [Math.min(...usable), Math.max(...usable)] : [figure.log_y ? 1 : 0, figure.log_y ? 10 : 1];
};

/** The range of a scale. Linear ones begin at 0 unless all values lie far above it. */
Report.range = (extent, log, fromZero) => {
  let [low, high] = extent;
  if (log) {
    const wide = Math.max((Math.log10(high) - Math.log10(low)) * 0.06, 0.06);
    return [low / 10 ** wide, high * 10 ** wide];
  }
  if (fromZero || low < 0.6 * high) low = Math.min(0, low);
  const pad = (high - low || Math.abs(high) || 1) * 0.06;
  return [low === 0 ? 0 : low - pad, high + pad];
};

/** Round numbers on a linear scale. */
Report.linearTicks = (low, high, most) => {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high * (1 + 1e-12); n++) ticks.push(Number((n * step).toPrecision(12)));
  return ticks;
};

/** Round numbers on a logarithmic scale: as many between the powers of ten, or as few powers, as there is room for. */
Report.logTicks = (low, high, most) => {
  const powers = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) powers.push(power);
  const ticks = (factors, every) => powers.filter((power) => power % every === 0)
    .flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`))).filter((value) => value >= low && value <= high);
  const choices = [[[1, 1.5, 2, 3, 5, 7], 1], [[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 4], [[1], 6]].map(([factors, every]) => ticks(factors, every));
  const fitting = choices.find((choice) => choice.length >= 2 && choice.length <= most + 2);
  return fitting ?? (high / low < 10 ? Report.linearTicks(low, high, most) : choices.filter((choice) => choice.length >= 2).pop() ?? choices[0]);
};

Report.ticks = (low, high, log, most) => (log ? Report.logTicks : Report.linearTicks)(low, high, most);

/** Where a value lies in a range, from 0 to 1. */
Report.share = (value, [low, high], log) => {
  const to = log ? (number) => Math.log(Math.max(number, low)) : (number) => number;
  return Math.min(1, Math.max(0, (to(value) - to(low)) / (to(high) - to(low))));
};
