import { api, base, edit, make, notice, plan } from "./studio.js";

const table = document.getElementById("columns");
const roles = JSON.parse(table.dataset.roles);
const types = ["text", "category", "integer", "real", "date", "set", "trajectory"];
let found = null;

function chosen(name, key) {
  const said = ((plan.tree.columns || {})[name] || {})[key];
  return Array.isArray(said) ? said[0] : said;
}

function select(name, key, options, absent) {
  const now = chosen(name, key) || absent;
  const made = make("select", { "aria-label": `${key} of ${name}` }, ...options.map((one) => make("option", { value: one, selected: one === now }, one)));
  made.value = now;
  made.addEventListener("change", () => {
    const inside = (plan.tree.columns || {})[name];
    const changes = inside ? [[["columns", name, key], made.value]] : [[["columns", name], { [key]: made.value, ...(key === "role" ? {} : { role: "drop" }) }]];
    if (key === "role" && made.value === "quasi" && !(inside && inside.hierarchy)) {
      const proposed = found.columns.find((one) => one.name === name).hierarchy || { kind: "flat" };
      if (inside) changes.push([["columns", name, "hierarchy"], proposed]);
      else changes[0][1].hierarchy = proposed;
    }
    edit(changes);
  });
  return made;
}

function draw() {
  if (!found) return;
  const body = table.tBodies[0];
  body.replaceChildren(...found.columns.map((one) => make("tr", {},
    make("th", { scope: "row" }, one.name),
    make("td", {}, select(one.name, "role", roles, "drop")),
    make("td", {}, select(one.name, "type", types, one.type)),
    make("td", { class: "num" }, one.distinct.toLocaleString("en")),
    make("td", { class: "num" }, one.missing.toLocaleString("en")),
    make("td", { class: "small" }, `${one.role}: ${one.why}`))));
}

document.addEventListener("plan", draw);

try {
  found = await api("GET", `${base}/profile`);
  draw();
  const risk = found.risk;
  const share = (value) => `${(100 * value).toFixed(1)} %`;
  document.getElementById("risk").textContent = `${found.rows.toLocaleString("en")} rows. By the suggested quasi-identifiers together, ${share(risk.unique)} of the rows are alone, and whoever knows them finds ${share(risk.marketer)} of the people.`;
} catch (error) {
  table.tBodies[0].replaceChildren(make("tr", {}, make("td", { colspan: 6, class: "problem" }, error.message)));
}

let first = 0;
const many = 50;

async function rows() {
  try {
    const page = await api("GET", `${base}/rows?first=${first}&many=${many}`);
    first = page.first;
    document.getElementById("rows").replaceChildren(
      make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "num" }, "row"), ...page.columns.map((one) => make("th", { scope: "col" }, one)))),
      make("tbody", {}, ...page.rows.map((row, at) => make("tr", {}, make("th", { scope: "row", class: "num muted" }, (first + at + 1).toLocaleString("en")), ...row.map((cell) => make("td", {}, cell === null ? "" : cell))))));
    document.getElementById("rows-place").textContent = `rows ${(first + 1).toLocaleString("en")} to ${(first + page.rows.length).toLocaleString("en")} of ${page.of.toLocaleString("en")}`;
    document.getElementById("rows-before").disabled = first === 0;
    document.getElementById("rows-after").disabled = first + many >= page.of;
  } catch (error) {
    document.getElementById("rows-place").textContent = error.message;
  }
}

document.getElementById("rows-before").addEventListener("click", () => { first = Math.max(first - many, 0); rows(); });
document.getElementById("rows-after").addEventListener("click", () => { first += many; rows(); });
document.getElementById("rows-go").addEventListener("change", (event) => {
  const wanted = Number(event.target.value.replace(/[^0-9]/g, ""));
  if (wanted > 0) { first = wanted - 1; rows(); } else notice("Type the number of a row.", "bad");
});
rows();
