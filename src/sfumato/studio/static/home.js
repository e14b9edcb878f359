import { api, header, notice } from "./studio.js";

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

// An upload says how far it is, which fetch cannot.
function sent(file) {
  const bar = document.getElementById("upload-progress");
  bar.hidden = false;
  return new Promise((done, failed) => {
    const asked = new XMLHttpRequest();
    asked.open("PUT", `/api/upload?name=${encodeURIComponent(file.name)}`);
    asked.setRequestHeader("x-sfumato", header);
    asked.responseType = "json";
    asked.upload.onprogress = (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total; };
    asked.onload = () => { bar.hidden = true; if (asked.status === 200) done(asked.response); else failed(new Error((asked.response || {}).error || "The file was not taken.")); };
    asked.onerror = () => { bar.hidden = true; failed(new Error("The upload was cut off; is it larger than the limit? Put the file into the served folder instead.")); };
    asked.send(file);
  });
}

for (const one of document.querySelectorAll("[data-open]")) {
  one.addEventListener("click", () => go(api("POST", "/api/open", { file: one.dataset.open })));
}
for (const one of document.querySelectorAll("[data-example]")) {
  one.addEventListener("click", () => go(api("POST", "/api/example", { example: one.dataset.example })));
}
document.getElementById("upload").addEventListener("change", (event) => {
  const file = event.target.files[0];
  if (file) go(sent(file));
});
