import { api, base, edit, number, plan } from "./studio.js";

const places = [...document.querySelectorAll("#models li")];

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

function draw() {
  for (const place of places) {
    const said = mine(place);
    const box = place.querySelector("input[type=checkbox]");
    box.checked = said !== undefined;
    place.classList.toggle("taken", box.checked);
    place.querySelector(".parameters").hidden = !box.checked;
    place.querySelector(".value").value = said === undefined ? "" : toml(said);
    place.querySelector(".reached").textContent = "";
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
    for (const claim of found.claims) {
      const place = places.find((one) => one.dataset.model === claim.model);
      if (place) place.querySelector(".reached").textContent = `The raw table reaches ${number(claim.reached)}; asked for ${claim.sense} ${number(claim.limit)}.`;
    }
  } catch (error) {
    problem.textContent = error.message;
  }
}

for (const place of places) {
  place.querySelector("input[type=checkbox]").addEventListener("change", (event) => {
    edit([[["privacy", place.dataset.key], event.target.checked ? example(place) : null]]);
  });
  place.querySelector(".value").addEventListener("change", (event) => {
    try { edit([[["privacy", place.dataset.key], parsed(event.target.value)]]); }
    catch { document.getElementById("reached-problem").textContent = `${place.dataset.model}: ${event.target.value} is no value; write it like ${place.dataset.plan}`; }
  });
}
document.getElementById("metric").addEventListener("change", (event) => edit([[["utility", "metric"], event.target.value]]));
document.getElementById("suppressed").addEventListener("change", (event) => edit([[["algorithm", "max_suppressed"], Number(event.target.value) / 100]]));
document.addEventListener("plan", draw);
draw();
