import { api, base, edit, make, notice, number, plan, replace } from "./studio.js";

const places = [...document.querySelectorAll(".models li")];
const [metric, suppressed] = ["metric", "suppressed"].map((id) => document.getElementById(id));
const noise = ["epsilon", "delta", "discovery"].map((id) => document.getElementById(id)).filter(Boolean);

// A value as TOML writes it, and back: small, and only for what a requirement holds.
function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (value && typeof value === "object") return `{ ${Object.entries(value).map(([key, one]) => `${key} = ${toml(one)}`).join(", ")} }`;
  return JSON.stringify(value);
}

function parsed(text) {
  const json = text.replace(/([{,]\s*)([A-Za-z_][A-Za-z0-9_-]*)\s*=/g, '$1"$2":').replace(/'/g, '"');
  return JSON.parse(json);
}

const example = (place) => parsed(place.dataset.plan.slice(place.dataset.plan.indexOf("=") + 1).trim());

function mine(place) {
  const said = (plan.tree.privacy || {})[place.dataset.key];
  if (said === undefined) return undefined;
  const kind = example(place).kind;
  const one = Array.isArray(said) ? said.find((each) => !kind || each.kind === kind) : said;
  return one !== undefined && (!kind || one.kind === kind) ? one : undefined;
}

function valued(place, said, name) {
  const given = said === undefined ? undefined : typeof said === "object" ? said[name] : name === place.dataset.key.split("_")[0] || name === "k" ? said : undefined;
  if (given !== undefined && typeof given !== "object") return String(given);
  return name === "column" ? sensitive() : name;
}

// What a requirement about a sensitive column is about where it names none.
function sensitive() {
  const found = Object.entries(plan.tree.columns || {}).filter(([, one]) => [one.role].flat().includes("sensitive")).map(([name]) => name);
  return found.length === 1 ? found[0] : "the sensitive column";
}

// One field for each parameter; whatever is no plain value is written as the plan writes it.
function fields(place, said) {
  if (typeof said !== "object" || Array.isArray(said)) return [field(place, (place.querySelector("var") || { dataset: { parameter: place.dataset.key } }).dataset.parameter, said, (value) => value)];
  const wanted = { ...example(place), ...said };
  return Object.entries(wanted).filter(([name]) => name !== "kind").map(([name, value]) => field(place, name, said[name] === undefined ? "" : value, (given) => {
    const next = { ...said, [name]: given };
    if (given === undefined) delete next[name];
    return next;
  }));
}

function field(place, name, value, whole) {
  const made = make("input", { class: "value", size: typeof value === "number" ? 8 : 30, spellcheck: "false" });
  made.value = value === "" ? "" : typeof value === "string" ? value : toml(value);
  made.addEventListener("change", () => {
    const text = made.value.trim();
    let given;
    try { given = text === "" ? undefined : parsed(text); } catch { given = text; }
    edit([[["privacy", place.dataset.key], text === "" && typeof value !== "object" && whole(1) === 1 ? null : merged(place, whole(given))]]);
  });
  return make("label", {}, `${name} `, made);
}

// A key may hold several requirements, one of each kind: only this one changes.
function merged(place, one) {
  const said = (plan.tree.privacy || {})[place.dataset.key];
  const kind = example(place).kind;
  return Array.isArray(said) && kind ? said.map((each) => (each.kind === kind ? one : each)) : one;
}

function draw() {
  for (const place of places) {
    const said = mine(place);
    const box = place.querySelector("input[type=checkbox]");
    box.checked = said !== undefined;
    place.classList.toggle("taken", box.checked);
    place.querySelector(".parameters").hidden = !box.checked;
    place.querySelector(".parameters").replaceChildren(...(said === undefined ? [] : fields(place, said)));
    for (const one of place.querySelectorAll("var")) one.textContent = valued(place, said, one.dataset.parameter);
    place.querySelector(".reached").hidden = true;
  }
  if (metric) {
    metric.value = (plan.tree.utility || {}).metric || "loss";
    suppressed.value = 100 * ((plan.tree.algorithm || {}).max_suppressed || 0);
  }
  for (const one of noise) one.value = (plan.tree.privacy || {})[one.id] ?? "";
  if (noise.length) document.getElementById("ratio").textContent = told(document.getElementById("epsilon").value);
  strange();
  reached();
}

// What epsilon means: how much more likely anything can become by one person.
function told(text) {
  if ((plan.tree.privacy || {}).rho !== undefined) return `The plan asks for rho = ${plan.tree.privacy.rho} (zCDP) in place of epsilon.`;
  const [over, under] = text.split("/").map(Number);
  const times = Math.exp(under === undefined ? over : over / under);
  if (!Number.isFinite(times) || text === "") return "Write a number such as 1 or 0.5.";
  return `Whatever is seen is at most ${number(times)} times as likely with somebody in the table as without them${(plan.tree.privacy || {}).delta === undefined ? "" : ", up to delta"}.`;
}

// What the plan asks for and no model of this page takes: it can be taken out here.
function strange() {
  const known = [...places.map((one) => one.dataset.key), ...noise.map((one) => one.id), "rho", "reading", "ledger", "analyst", "domains"];
  const found = Object.entries(plan.tree.privacy || {}).filter(([key]) => !known.includes(key));
  const list = document.getElementById("strangers");
  list.hidden = found.length === 0;
  list.replaceChildren(...found.map(([key, value]) => make("li", {}, `${key} = ${toml(value)} is not for a release of this kind. `,
    make("button", { type: "button", class: "quiet small", onclick: () => edit([[["privacy", key], null]]) }, `Take ${key} out`))));
}

async function reached() {
  const problem = document.getElementById("reached-problem");
  try {
    const found = await api("GET", `${base}/reached`);
    problem.textContent = found.unreachable || "";
    for (const claim of [...found.beside, ...found.claims]) {
      const place = places.find((one) => one.dataset.model === claim.model);
      if (!place) continue;
      const chip = place.querySelector(".reached");
      chip.hidden = false;
      const asked = place.classList.contains("taken");
      chip.className = `reached chip ${!asked ? "quiet" : claim.holds ? "holds" : "open"}`;
      chip.textContent = `raw table: ${number(claim.reached)}${asked ? `, asked for: ${claim.sense} ${number(claim.limit)}` : ""}`;
    }
  } catch (error) {
    problem.textContent = error.message;
  }
}

for (const place of places) {
  place.querySelector("input[type=checkbox]").addEventListener("change", (event) => {
    const said = (plan.tree.privacy || {})[place.dataset.key];
    const kind = example(place).kind;
    const others = (Array.isArray(said) ? said : said === undefined ? [] : [said]).filter((one) => kind && one.kind !== kind);
    const all = event.target.checked ? [...others, example(place)] : others;
    edit([[["privacy", place.dataset.key], all.length === 0 ? null : all.length === 1 ? all[0] : all]]);
  });
}
if (metric) {
  metric.addEventListener("change", () => edit([[["utility", "metric"], metric.value]]));
  suppressed.addEventListener("change", () => edit([[["algorithm", "max_suppressed"], Number(suppressed.value) / 100]]));
}
for (const one of noise) {
  one.addEventListener("change", () => {
    const text = one.value.trim();
    edit([[["privacy", one.id], text === "" ? null : Number.isFinite(Number(text)) ? Number(text) : text]]);
  });
}
for (const one of document.querySelectorAll("[name=promise]")) {
  one.addEventListener("change", async () => {
    const found = await replace(`${base}/promise`, { promise: one.value });
    if (found && found.left_out.length) sessionStorage.setItem("left out", found.left_out.join(", "));
  });
}
if (sessionStorage.getItem("left out")) {
  notice(`Noise has no domain for ${sessionStorage.getItem("left out")}: left out of this plan. Dates can come in as numbers, sets with a tree.`);
  sessionStorage.removeItem("left out");
}
document.addEventListener("plan", draw);
if (document.getElementById("promises")) draw();
