"use strict";
// The page says everything without this. Here are the theme's button, hover texts that come at once, lines that are read by pointer and
// arrow keys and zoomed by dragging, and legends that hide what they name.
(() => {
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => { button.querySelector("span").textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  dark.addEventListener("change", name);
  name();

  // A title of a part is shown beside the pointer; that of a whole drawing is its name.
  const titles = new Map();
  for (const title of document.querySelectorAll(".drawing title")) {
    const host = title.parentNode;
    if (host.matches("svg")) host.setAttribute("aria-label", title.textContent);
    else titles.set(host, title.textContent);
    title.remove();
  }
  const element = (tag, name, ...children) => {
    const made = document.createElement(tag);
    made.className = name;
    made.append(...children);
    return made;
  };
  const svg = (tag, name) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    made.setAttribute("class", name);
    return made;
  };
  const show = (x, y, ...content) => {
    tip.replaceChildren(...content);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
    tip.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
  };
  const hide = () => {
    tip.hidden = true;
    document.querySelector(".cursor")?.remove();
  };

  const height = (lines) => lines.querySelector(".back").getAttribute("height");
  /** The marks of a drawing that can be seen, with their middles. */
  const marks = (lines) => {
    const { left, right } = lines.querySelector(".window").getBoundingClientRect();
    return [...lines.querySelectorAll("g:not(.off) > .mark")].map((mark) => {
      const { x, y, width, height } = mark.getBoundingClientRect();
      return { mark, x: x + width / 2, y: y + height / 2 };
    }).filter(({ x }) => x >= left - 1 && x <= right + 1);
  };
  /** Tells all values of the place that is nearest. */
  const read = (lines, x, y) => {
    const all = marks(lines);
    const nearest = all.reduce((best, one) => (!best || Math.abs(one.x - x) < Math.abs(best.x - x) ? one : best), null);
    if (!nearest) return hide();
    const levels = [...lines.querySelectorAll("g:not(.off) > .level")].map((mark) => ({ mark, y: mark.getBoundingClientRect().y }));
    const here = all.filter((one) => Math.abs(one.x - nearest.x) < 0.5).concat(levels).sort((a, b) => a.y - b.y);
    const near = here.reduce((best, one) => (Math.abs(one.y - y) < Math.abs(best.y - y) ? one : best));
    const legend = lines.closest("figure").querySelector(".legend");
    const rows = here.map((one) => {
      const [series, , value] = titles.get(one.mark).split("\n");
      const swatch = legend.querySelector(`[data-series="${one.mark.parentNode.dataset.series}"] svg`).cloneNode(true);
      return element("div", one === near ? "near" : "", swatch, element("span", "of", series), element("span", "", value));
    });
    hide();
    const cursor = lines.querySelector(".area").appendChild(svg("line", "cursor"));
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, nearest.mark.getAttribute("x"));
    cursor.setAttribute("y1", 10);
    cursor.setAttribute("y2", height(lines));
    show(nearest.x, y, element("p", "", titles.get(nearest.mark).split("\n")[1]), ...rows);
    lines.dataset.at = nearest.x;
  };
  document.addEventListener("pointermove", (event) => {
    const lines = event.target.closest?.(".lines");
    if (lines) return read(lines, event.clientX, event.clientY);
    let part = event.target;
    while (part && !titles.has(part)) part = part.parentNode;
    return part ? show(event.clientX, event.clientY, titles.get(part)) : hide();
  });

  /** Shows a part of the places, from 0 to 1, and the names for which there is room. */
  const zoom = (lines, from, part) => {
    const area = lines.querySelector(".area");
    area.style.setProperty("--from", from);
    area.style.setProperty("--part", part);
    lines.classList.toggle("zoomed", part < 1);
    let end = -Infinity;
    for (const label of lines.querySelectorAll(".tick text")) {
      const { left, right } = label.getBoundingClientRect();
      const crowded = part < 1 && left < end + 6;
      label.style.visibility = crowded ? "hidden" : "";
      if (!crowded) end = right;
    }
  };
  for (const lines of document.querySelectorAll(".lines")) {
    const area = lines.querySelector(".area");
    let start = null;
    let selection = null;
    const place = (event) => {
      const { left, width } = area.querySelector(".back").getBoundingClientRect();
      return Math.max(0, Math.min(1, (event.clientX - left) / width));
    };
    lines.addEventListener("mousedown", (event) => {
      start = place(event);
      selection = area.appendChild(svg("rect", "selection"));
      selection.setAttribute("height", height(lines));
    });
    lines.addEventListener("mousemove", (event) => {
      if (start === null) return;
      const [from, to] = [start, place(event)].sort((a, b) => a - b);
      selection.setAttribute("x", `${from * 100}%`);
      selection.setAttribute("width", `${(to - from) * 100}%`);
    });
    addEventListener("mouseup", (event) => {
      if (start === null) return;
      const [from, to] = [start, place(event)].sort((a, b) => a - b);
      start = null;
      selection.remove();
      if (to - from > 0.02 * Number(getComputedStyle(area).getPropertyValue("--part"))) zoom(lines, from, to - from);
    });
    lines.addEventListener("dblclick", () => zoom(lines, 0, 1));
    lines.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const places = [...new Set(marks(lines).map(({ x }) => x))].sort((a, b) => a - b);
      const known = places.findIndex((x) => Math.abs(x - Number(lines.dataset.at)) < 0.5);
      const next = known < 0 ? (step > 0 ? 0 : places.length - 1) : Math.max(0, Math.min(places.length - 1, known + step));
      const box = lines.getBoundingClientRect();
      read(lines, places[next], box.y + box.height / 2);
    });
    lines.addEventListener("blur", () => { delete lines.dataset.at; hide(); });
  }
  for (const entry of document.querySelectorAll(".legend button")) {
    entry.addEventListener("click", () => {
      const shown = entry.getAttribute("aria-pressed") !== "true";
      entry.setAttribute("aria-pressed", String(shown));
      const parts = entry.closest("figure").querySelectorAll(`.drawing [data-series="${entry.dataset.series}"]`);
      for (const part of parts) part.classList.toggle("off", !shown);
    });
  }
  root.dataset.ready = "true";
})();
