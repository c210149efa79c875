"use strict";
document.documentElement.classList.add("js");

// benchproc compiles a filter in the syntax of
// golang.org/x/perf/benchproc to a predicate that takes a function from keys to values.
function benchproc(text) {
  const words = text.match(/"(?:[^"\\]|\\.)*"|\/(?:[^\/\\\s]|\\.)*[^\\\s:()]\/(?=[\s()]|$)|[():*]|[^\s():"*]+/g) || [];
  let at = 0;
  const want = (word) => { if (words[at++] !== word) throw new Error("want " + word); };
  const value = () => {
    const word = words[at++];
    if (word === undefined || word === ")" || word === "(" || word === ":") throw new Error("want a value after the colon");
    if (word === "*") return () => true;
    if (word.length > 1 && word[0] === "/" && word.endsWith("/")) { const re = new RegExp(word.slice(1, -1)); return (v) => re.test(v); }
    const plain = word[0] === '"' ? JSON.parse(word) : word;
    return (v) => v === plain;
  };
  const match = (key) => {
    want(":");
    if (words[at] !== "(") { const test = value(); return (get) => test(get(key)); }
    at++;
    const tests = [value()];
    while (words[at] === "OR") { at++; tests.push(value()); }
    want(")");
    return (get) => tests.some((test) => test(get(key)));
  };
  const term = () => {
    let word = words[at++];
    if (word === undefined) throw new Error("want key:value");
    if (word === "*") return () => true;
    if (word === "-") { const not = term(); return (get) => !not(get); }
    if (word === "(") { const inner = any(); want(")"); return inner; }
    if (word.length > 1 && word[0] === "-") { words[--at] = word.slice(1); const not = term(); return (get) => !not(get); }
    return match(word);
  };
  const all = () => {
    const tests = [term()];
    while (at < words.length && words[at] !== ")" && words[at] !== "OR") { if (words[at] === "AND") at++; tests.push(term()); }
    return (get) => tests.every((test) => test(get));
  };
  const any = () => {
    const tests = [all()];
    while (words[at] === "OR") { at++; tests.push(all()); }
    return (get) => tests.some((test) => test(get));
  };
  if (words.length === 0) return () => true;
  const test = any();
  if (at < words.length) throw new Error("unexpected " + words[at]);
  return test;
}

// keyOf returns the value of a benchproc key for a row.
function keyOf(item, key) {
  if (key === ".unit") return item.dataset.unit;
  const [name, ...parts] = item.dataset.name.split("/");
  if (key === ".name") return name;
  if (key === ".fullname") return item.dataset.name;
  const part = parts.find((p) => "/" + p.split("=")[0] === key);
  if (part === undefined && key[0] !== "/") throw new Error("the keys are /design, /op, /size, .name, .fullname and .unit");
  return part === undefined ? "" : part.slice(part.indexOf("=") + 1);
}

// testOf returns the predicate of one control.
function testOf(tool) {
  const text = tool.value.trim();
  if (text === "") return () => true;
  if (tool.dataset.facet) return (item) => (item.dataset[tool.dataset.facet] || "").split(" ").includes(text);
  if (tool.dataset.syntax) { const test = benchproc(text); return (item) => test((key) => keyOf(item, key)); }
  const words = text.toLowerCase().split(/\s+/);
  return (item) => { const all = item.textContent.toLowerCase(); return words.every((w) => all.includes(w)); };
}

// On a phone the cells of a row are stacked, each next to the name of its column.
// The roles keep the table structure for screen readers.
for (const table of document.querySelectorAll("table:not(.matrix)")) {
  const heads = [...(table.tHead?.rows[0].cells ?? [])];
  if (heads.length < 3) continue;
  const give = (role, all) => { for (const element of all) element.setAttribute("role", role); };
  table.classList.add("stack");
  give("table", [table]);
  give("rowgroup", [table.tHead, ...table.tBodies]);
  give("columnheader", heads);
  give("row", table.rows);
  for (const row of table.tBodies[0].rows) for (const cell of row.cells) {
    give(cell.tagName === "TH" ? "rowheader" : "cell", [cell]);
    if (cell.tagName === "TD" && cell.colSpan === 1) cell.dataset.label = heads[cell.cellIndex].textContent;
  }
}

for (const box of document.querySelectorAll("[data-filter]")) {
  const items = [...box.querySelectorAll("[data-item]")];
  const rows = items.filter((item) => !(item instanceof SVGElement));
  const tools = [...box.querySelectorAll(".tools input, .tools select:not([data-order])")];
  const out = box.querySelector("output");
  const apply = () => {
    let shown = rows.length, fault = "";
    const tests = tools.map((tool) => {
      try { const test = testOf(tool); rows.slice(0, 1).forEach(test); tool.removeAttribute("aria-invalid"); return test; }
      catch (e) { tool.setAttribute("aria-invalid", "true"); fault = e.message; return () => true; }
    });
    for (const item of items) item.classList.toggle("off", !tests.every((test) => test(item)));
    shown = rows.filter((item) => !item.classList.contains("off")).length;
    out.textContent = fault || shown + " of " + rows.length + " shown";
  };
  for (const tool of tools) tool.addEventListener("input", apply);
  const order = box.querySelector("[data-order]");
  if (order) order.addEventListener("input", () => {
    const key = order.value;
    const sorted = [...rows].sort((a, b) => (a.dataset[key] || "").localeCompare(b.dataset[key] || "", "en", { numeric: true }));
    sorted.forEach((item) => item.parentNode.append(item));
  });
  apply();
}

for (const button of document.querySelectorAll("thead button")) button.addEventListener("click", () => {
  const head = button.closest("th"), table = button.closest("table"), column = head.cellIndex;
  const up = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => { const cell = row.cells[column]; return cell.dataset.sort ?? cell.textContent.trim(); };
  const body = table.tBodies[0];
  [...body.rows].map((row) => [key(row), row]).sort(([a], [b]) => {
    const x = parseFloat(a), y = parseFloat(b);
    const order = isNaN(x) || isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
    return up ? order : -order;
  }).forEach(([, row]) => body.append(row));
});

for (const button of document.querySelectorAll(".copy button")) button.addEventListener("click", async () => {
  const code = button.parentNode.querySelector("code");
  try { await navigator.clipboard.writeText(code.textContent); button.textContent = "Copied"; }
  catch { getSelection().selectAllChildren(code); button.textContent = "Selected"; }
});
