"use strict";
(() => {
  const root = document.documentElement;
  const all = (query) => Array.from(document.querySelectorAll(query));

  // What needs this script is not shown without it.
  all("[data-script]").forEach((element) => { element.hidden = false; });

  const remembered = () => {
    try { return localStorage.getItem("midepoch-theme"); } catch { return null; }
  };
  const remember = (theme) => {
    try { localStorage.setItem("midepoch-theme", theme); } catch { /* a page from disk may not */ }
  };
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const toggle = document.getElementById("theme");
  const name = () => { toggle.textContent = dark() ? "Light" : "Dark"; };
  const kept = remembered();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  name();
  toggle.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    remember(root.dataset.theme);
    name();
  });

  all("button[data-copy]").forEach((button) => {
    const words = button.textContent;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      const chosen = getSelection();
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        chosen.selectAllChildren(source);
        button.textContent = "Selected: press Ctrl+C";
      }
      setTimeout(() => { button.textContent = words; }, 2000);
    });
  });

  // A drawing wider than the screen begins where it goes wrong.
  all(".scroll").forEach((region) => {
    const wrong = region.querySelector(".missing, .repeated, .wrong");
    if (!wrong || region.scrollWidth <= region.clientWidth) return;
    const head = region.querySelector("th").offsetWidth;
    const box = wrong.getBoundingClientRect(), own = region.getBoundingClientRect();
    region.scrollLeft = Math.max(0, box.left - own.left - head - 2 * box.width);
  });

  const form = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const apply = () => {
    const cls = form.elements.cls.value;
    const outcome = form.elements.outcome.value;
    const fits = (token) => {
      const [c, o] = token.split("/");
      return (!cls || c === cls) && (!outcome || o === outcome);
    };
    const counts = {};
    all("[data-found]").forEach((element) => {
      const fit = element.dataset.found.split(" ").some(fits);
      element.hidden = !fit;
      const what = element.dataset.what;
      counts[what] = counts[what] || [0, 0];
      counts[what][0] += fit;
      counts[what][1] += 1;
    });
    all("[data-group]").forEach((group) => {
      group.hidden = !group.querySelector("[data-found]:not([hidden])");
    });
    const words = Object.entries(counts).map(([what, [n, of]]) => `${n} of ${of} ${what}`);
    shown.textContent = cls || outcome ? words.join(", ") : "";
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  apply();
})();
