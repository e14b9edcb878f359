import { api, base, count, edit, make, notice, plan, share } from "./studio.js";

const table = document.getElementById("columns");
const roles = JSON.parse(table.dataset.roles);
const types = ["text", "category", "integer", "real", "date", "set", "trajectory"];
let found = null;
let shown = null;

function chosen(name, key) {
  const said = ((plan.tree.columns || {})[name] || {})[key];
  return Array.isArray(said) ? said[0] : said;
}

function select(name, key, options, absent) {
  const now = chosen(name, key) || absent;
  const made = make("select", { "aria-label": `${key} of ${name}` }, ...options.map((one) => make("option", { value: one, selected: one === now }, one)));
  made.value = now;
  made.addEventListener("change", () => give(name, key, made.value));
  return made;
}

// A column gets a role or a type; a quasi-identifier gets the proposed hierarchy with its role.
function give(name, key, value) {
  const inside = (plan.tree.columns || {})[name];
  const fresh = { role: "drop", [key]: value };
  const changes = inside ? [[["columns", name, key], value]] : [[["columns", name], fresh]];
  if (key === "type") changes.push(...retyped(name, value));
  if (key === "role" && value === "quasi" && !(inside && inside.hierarchy)) {
    const proposed = found.columns.find((one) => one.name === name).hierarchy || { kind: "flat" };
    if (inside) changes.push([["columns", name, "hierarchy"], proposed]);
    else fresh.hierarchy = proposed;
  }
  edit(changes);
}

// Paths and sets are judged by other models than tables, and a hierarchy is over their items.
const itemized = (type) => ["set", "trajectory"].includes(type);
function retyped(name, type) {
  const said = plan.tree.columns || {};
  const before = Object.values(said).some((one) => itemized(one.type));
  const after = itemized(type) || Object.entries(said).some(([other, one]) => other !== name && itemized(one.type));
  const changes = [];
  if (itemized(type) !== itemized((said[name] || {}).type)) for (const key of ["hierarchy", "time_hierarchy", "separator", "mark", "base", "domain_from"]) changes.push([["columns", name, key], null]);
  if (itemized(type)) changes.push([["columns", name, "role"], "quasi"]);
  if (before === after || "epsilon" in (plan.tree.privacy || {})) return changes;
  for (const key of Object.keys(plan.tree.privacy || {})) changes.push([["privacy", key], null]);
  changes.push([["privacy", after ? "km" : "k_anonymity"], after ? { k: 5, m: 2 } : 5]);
  for (const [part, key] of [["algorithm", "max_suppressed"], ["algorithm", "name"], ["utility", "metric"], ["utility", "purpose"]]) if (key in (plan.tree[part] || {})) changes.push([[part, key], null]);
  return changes;
}

// How the items of a cell are written.
function marks(name) {
  const type = chosen(name, "type");
  if (!itemized(type)) return [];
  const keys = type === "set" ? [["separator", "|"]] : [["separator", "|"], ["mark", "@"]];
  return keys.map(([key, usual]) => {
    const made = make("input", { size: 2, maxlength: 3, "aria-label": `${key} of ${name}`, value: chosen(name, key) || usual });
    made.addEventListener("change", () => edit([[["columns", name, key], made.value || null]]));
    return make("label", { class: "small" }, ` ${key} `, made);
  });
}

// A suggestion that the plan does not follow can be taken with one click.
function suggested(one) {
  const words = [make("strong", {}, one.role), `: ${one.why}`];
  if (chosen(one.name, "role") === one.role) return words;
  return [...words, " ", make("button", { type: "button", class: "quiet small", "aria-label": `take the role ${one.role} for ${one.name}`, onclick: () => give(one.name, "role", one.role) }, "Take it")];
}

function some(one) {
  const at = shown ? shown.columns.indexOf(one.name) : -1;
  if (at < 0) return null;
  const values = [...new Set(shown.rows.map((row) => row[at]).filter((cell) => cell !== null && cell !== ""))].slice(0, 3);
  return make("span", { class: "muted small values" }, values.join(", "));
}

function draw() {
  if (!found) return;
  const body = table.tBodies[0];
  body.replaceChildren(...found.columns.map((one) => make("tr", {},
    make("th", { scope: "row" }, one.name, some(one)),
    make("td", {}, select(one.name, "role", roles, "drop")),
    make("td", {}, select(one.name, "type", types, one.type), ...marks(one.name)),
    make("td", { class: "num" }, count(one.distinct)),
    make("td", { class: "num" }, share(one.alone / found.rows)),
    make("td", { class: "num" }, count(one.missing)),
    make("td", { class: "small" }, ...suggested(one), ...one.notes.map((note) => make("span", { class: "muted" }, ` ${note}`))))));
}

document.addEventListener("plan", draw);

try {
  found = await api("GET", `${base}/profile`);
  draw();
  const risk = found.risk;
  const paths = found.columns.some((one) => itemized(one.type));
  document.getElementById("risk").textContent = paths ? `${count(found.rows)} records. What their paths and sets give away stands under Requirement, beside each model.` : `${count(found.rows)} rows. By the suggested quasi-identifiers together, ${share(risk.unique)} of the rows are alone, and whoever knows them finds ${share(risk.marketer)} of the people.`;
} catch (error) {
  table.tBodies[0].replaceChildren(make("tr", {}, make("td", { colspan: 7, class: "problem" }, error.message)));
}

let first = 0;
const many = 50;

async function rows() {
  try {
    const page = await api("GET", `${base}/rows?first=${first}&many=${many}`);
    first = page.first;
    if (!shown) { shown = page; draw(); }
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
