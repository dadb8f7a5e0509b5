"use strict";
(() => {
  const form = document.querySelector(".matrix-filter");
  const rows = Array.from(document.querySelectorAll("tr[data-found]"));
  const apply = () => {
    const { loader, cls, word } = form.elements;
    const fits = (token) => {
      const [name, found] = token.split("/");
      return (!cls.value || name === cls.value) && (!word.value || found === word.value);
    };
    const named = (row) => row.dataset.loader.includes(loader.value.trim().toLowerCase());
    let shown = 0;
    rows.forEach((row) => {
      const fit = named(row) && row.dataset.found.trim().split(" ").some(fits);
      document.querySelectorAll(`[data-row="${row.dataset.row}"]`).forEach((element) => {
        element.hidden = !fit;
      });
      shown += fit;
    });
    form.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  apply(); // a browser may keep the fields of an earlier visit
  // A link to a cell leads to a row that the filter hides.
  window.addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("[hidden]")) { form.reset(); setTimeout(() => target.scrollIntoView()); }
  });
})();
