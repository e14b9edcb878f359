import { api, notice } from "./studio.js";

async function go(asked) {
  document.body.classList.add("busy");
  notice("The table is being looked at …");
  try {
    location.href = (await asked).go;
  } catch (error) {
    document.body.classList.remove("busy");
    notice(error.message, "bad");
  }
}

for (const one of document.querySelectorAll("[data-open]")) {
  one.addEventListener("click", () => go(api("POST", "/api/open", { file: one.dataset.open })));
}
for (const one of document.querySelectorAll("[data-example]")) {
  one.addEventListener("click", () => go(api("POST", "/api/example", { example: one.dataset.example })));
}
document.getElementById("upload").addEventListener("change", (event) => {
  const file = event.target.files[0];
  if (file) go(api("PUT", `/api/upload?name=${encodeURIComponent(file.name)}`, file));
});
