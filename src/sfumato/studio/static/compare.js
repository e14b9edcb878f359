import { api, base, notice } from "./studio.js";

for (const one of document.querySelectorAll("[data-pick]")) {
  one.addEventListener("click", async () => {
    try { location.href = (await api("POST", `${base}/run/${one.dataset.pick}/pick`, {})).go; }
    catch (error) { notice(error.message, "bad"); }
  });
}
