import { api, base, edit, notice, plan, project } from "./studio.js";

const go = document.getElementById("go");
const cancel = document.getElementById("cancel");
const shown = document.getElementById("progress");
const told = document.getElementById("told");

function draw() {
  document.getElementById("algorithm").value = (plan.tree.algorithm || {}).name || "auto";
  document.getElementById("purpose").value = (plan.tree.utility || {}).purpose || "one-reading";
}

function listen() {
  shown.hidden = false;
  go.disabled = true;
  cancel.disabled = false;
  told.textContent = "";
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
    if (event.event === "note") { notice(event.text); return; }
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
document.getElementById("algorithm").addEventListener("change", (event) => edit([[["algorithm", "name"], event.target.value]]));
document.getElementById("purpose").addEventListener("change", (event) => edit([[["utility", "purpose"], event.target.value]]));
document.addEventListener("plan", draw);
draw();
if (shown.dataset.running === "yes") listen();
