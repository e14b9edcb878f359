import { api, base, notice, plan } from "./studio.js";

const old = document.getElementById("old-plan");
if (old) {
  old.addEventListener("click", async () => {
    try {
      await api("PUT", `${base}/plan`, { text: old.dataset.text, revision: plan.revision });
      location.reload();
    } catch (error) { notice(error.message, "bad"); }
  });
}
