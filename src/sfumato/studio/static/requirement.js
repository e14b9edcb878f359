import { api, base, edit, make, number, plan } from "./studio.js";

const places = [...document.querySelectorAll(".models li")];

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
  document.getElementById("metric").value = (plan.tree.utility || {}).metric || "loss";
  document.getElementById("suppressed").value = 100 * ((plan.tree.algorithm || {}).max_suppressed || 0);
  reached();
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
document.getElementById("metric").addEventListener("change", (event) => edit([[["utility", "metric"], event.target.value]]));
document.getElementById("suppressed").addEventListener("change", (event) => edit([[["algorithm", "max_suppressed"], Number(event.target.value) / 100]]));
document.addEventListener("plan", draw);
draw();
