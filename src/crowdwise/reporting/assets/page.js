"use strict";

// Charts. Colours are the style sheet's variables, so that light, dark and paper need nothing more than CSS.
const refuse = () => Promise.reject(new Error("A report loads nothing."));
for (const place of document.querySelectorAll(".chart")) {
  const spec = JSON.parse(place.nextElementSibling.textContent);
  // `ast` interprets expressions instead of compiling them, which the page's security policy forbids.
  vegaEmbed(place, spec, {
    mode: "vega-lite", renderer: "svg", ast: true, actions: false, loader: { load: refuse, sanitize: refuse },
  }).catch((problem) => console.error(problem));
}

// Tables: a click on a header sorts, a second one turns round; the field above filters.
const compare = new Intl.Collator(undefined, { numeric: true }).compare;

function key(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
}

function inOrder(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  // What has no number comes after what has one.
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return compare(one, other);
}

// What a row says; a picture's description is no part of that.
function words(row) {
  return [...row.cells].filter((cell) => !cell.querySelector("svg")).map((cell) => cell.textContent).join(" ").toLowerCase();
}

for (const block of document.querySelectorAll("[data-table]")) {
  const body = block.querySelector("tbody");
  const headers = [...block.querySelectorAll("th")];
  headers.forEach((header, column) => {
    header.querySelector("button").addEventListener("click", () => {
      const numeric = header.classList.contains("number");
      const before = header.getAttribute("aria-sort");
      // Numbers start with the largest, names with the first.
      const up = before === null ? !numeric : before === "descending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort((one, other) => (up ? 1 : -1) * inOrder(one[0], other[0]));
      body.append(...rows.map((pair) => pair[1]));
    });
  });
  const field = block.querySelector("input[type=search]");
  field?.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = !words(row).includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    block.querySelector("[data-found]").textContent = wanted ? `${shown} of ${body.rows.length} rows match.` : "";
  });
}

// A table says that it goes on to the right, as long as it does.
for (const block of document.querySelectorAll("[data-table]")) {
  const scroll = block.querySelector(".scroll");
  const show = () => block.classList.toggle("more", scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 2);
  scroll.addEventListener("scroll", show, { passive: true });
  new ResizeObserver(show).observe(scroll);
}

// The list of sections stays at the top, and marks the section that is read.
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    links.forEach((link) => link.removeAttribute("aria-current"));
    const link = links.get(entry.target.id);
    if (!link) continue;
    link.setAttribute("aria-current", "true");
    link.parentElement.scrollTo({ left: link.offsetLeft - 40 });
  }
}, { rootMargin: "-20% 0px -75% 0px" });
document.querySelectorAll("main > section").forEach((section) => seen.observe(section));
