import { api, count, make, notice, working } from "./studio.js";

const told = document.getElementById("told");
const value = (id) => document.getElementById(id).value;

function asked(id, address, body, draw) {
  const form = document.getElementById(id);
  if (!form) return;
  form.querySelector("button").disabled = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    told.replaceChildren(working());
    try { told.replaceChildren(...draw(await api("POST", address, body()))); }
    catch (error) { told.replaceChildren(make("p", { class: "problem" }, error.message)); notice(error.message, "bad"); }
  });
}

const chip = (holds, words) => make("span", { class: `chip ${holds ? "holds" : "fails"}` }, words);

asked("verify", "/api/verify", () => ({ bundle: value("bundle") }), (found) => [
  make("p", {}, chip(found.holds, found.holds ? "✓ holds" : "✗ does not hold"), ` ${count(found.checks)} checks were made.`),
  make("ul", { class: "checks" }, ...found.sentences.map((one) => make("li", { class: one.startsWith("FAILS") ? "problem" : "" }, one))),
]);
asked("attack", "/api/attack", () => ({ bundle: value("bundle"), original: value("original"), plan: value("project") }), (found) => [
  ...found.findings.map((one) => make("div", { class: "attack" }, make("p", {}, chip(!one.broken, one.chip), " ", make("strong", {}, one.attack), `: ${one.verdict}`), make("p", { class: "small" }, one.who))),
  make("p", { class: "small muted" }, `Not made: ${Object.keys(found.skipped).join(", ") || "none"}.`),
]);

// A bundle that a project made has that project's plan and table beside it.
const bundle = document.getElementById("bundle");
if (document.getElementById("attack")) {
  const beside = () => {
    const [home, name] = bundle.value.split("/");
    const mine = [...document.getElementById("project").options].find((one) => home === "sfumato-studio" && one.value === name);
    if (!mine) return;
    document.getElementById("project").value = name;
    if (mine.dataset.table) document.getElementById("original").value = mine.dataset.table;
  };
  bundle.addEventListener("change", beside);
  beside();
}
