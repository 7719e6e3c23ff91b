// The page says everything without this; here are the theme's button and hover texts that come at once.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const label = () => { button.querySelector("span").textContent = dark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; label(); });
  label();
  const tip = document.getElementById("tip");
  const titles = new Map();
  for (const title of document.querySelectorAll("svg title")) {
    titles.set(title.parentNode, title.textContent);
    title.remove();
  }
  const show = (event) => {
    const text = titles.get(event.target);
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const { clientX: x, clientY: y } = event;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
    tip.style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
})();
