import { api, base, edit, make, notice, plan, project } from "./studio.js";

const go = document.getElementById("go");
const cancel = document.getElementById("cancel");
const shown = document.getElementById("progress");
const told = document.getElementById("told");
const notes = document.getElementById("notes");
// Keys of every algorithm: all others leave the plan with the algorithm that they belong to.
const general = ["name", "max_suppressed", "seconds", "alternatives", "suppressed", "exempt_suppressed", "seed"];
const purpose = document.getElementById("purpose");
const choices = [...document.querySelectorAll("[name=algorithm]")];

// Why an algorithm fits or not: each says by itself what it refuses of this plan.
async function reasons() {
  try {
    const found = await api("GET", `${base}/fitting`);
    for (const one of choices) {
      const about = one.closest("label").querySelector(".about");
      const fit = found.algorithms.find((each) => each.name === one.value);
      if (one.value === "auto") about.textContent = `stands for ${found.auto} here. ${found.why}`;
      else if (fit) about.textContent = fit.why_not ? `Not for this plan: ${fit.why_not}` : fit.about;
      one.closest("label").classList.toggle("unfit", Boolean(fit && fit.why_not));
    }
  } catch (error) { told.textContent = error.message; told.className = "problem"; shown.hidden = false; }
}

function draw() {
  const name = (plan.tree.algorithm || {}).name || "auto";
  for (const one of choices) one.checked = one.value === name;
  if (purpose) purpose.value = (plan.tree.utility || {}).purpose || "one-reading";
}

function listen() {
  shown.hidden = false;
  go.disabled = true;
  cancel.disabled = false;
  told.textContent = "";
  notes.replaceChildren();
  const events = new EventSource(`${base}/progress`);
  events.onmessage = (message) => {
    const event = JSON.parse(message.data);
    if (event.event === "progress") {
      const bars = [...shown.querySelectorAll("[data-stage]")];
      const at = bars.findIndex((one) => one.dataset.stage === event.stage);
      bars.forEach((one, place) => {
        const bar = one.querySelector("progress");
        bar.max = place === at ? event.total || 1 : 1;
        bar.value = place < at ? 1 : place === at ? event.done : 0;
        one.classList.toggle("now", place === at);
      });
      return;
    }
    if (event.event === "note") { notes.append(make("li", {}, event.text)); return; }
    events.close();
    go.disabled = false;
    cancel.disabled = true;
    if (event.event === "done") location.href = `/p/${encodeURIComponent(project)}/result/${event.run}`;
    else { told.textContent = event.message; told.className = "problem"; }
  };
  events.onerror = () => { events.close(); go.disabled = false; };
}

go.addEventListener("click", async () => {
  try {
    await api("POST", `${base}/search`, {});
    listen();
  } catch (error) { notice(error.message, "bad"); }
});
cancel.addEventListener("click", () => api("POST", `${base}/cancel`, {}).catch((error) => notice(error.message, "bad")));
for (const one of choices) {
  one.addEventListener("change", () => {
    const said = Object.keys(plan.tree.algorithm || {}).filter((key) => !general.includes(key)).map((key) => [["algorithm", key], null]);
    edit([[["algorithm", "name"], one.value], ...said]);
  });
}
if (purpose) purpose.addEventListener("change", (event) => edit([[["utility", "purpose"], event.target.value]]));
document.addEventListener("plan", () => { draw(); reasons(); });
draw();
reasons();
if (shown.dataset.running === "yes") listen();
else go.disabled = false;
