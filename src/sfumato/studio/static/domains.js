import { api, base, edit, make, notice, plan } from "./studio.js";

// What a column can hold, for releases with noise: limits, a list, a tree, or a search for it.
const editor = document.getElementById("domain");
if (editor) {
  const column = editor.dataset.column;
  const [kind, fields, knownBy, other, take] = ["kind", "fields", "known-by", "other", "take"].map((id) => document.getElementById(id));
  const problem = document.getElementById("domain-problem");
  const bundled = JSON.parse(editor.dataset.bundled);
  let said = {};

  const inPlan = () => (plan.tree.columns || {})[column] || {};
  const target = () => [inPlan().role].flat().includes("target");

  function kindOf(one) {
    if (one.domain_from === "discover") return "discover";
    if ((one.values || []).length || target()) return "values";
    const tree = one.hierarchy || {};
    return ["grown", "intervals"].includes(tree.kind) ? "numbers" : Object.keys(tree).length ? "tree" : "values";
  }

  function field(id, label, value, change, size = 14) {
    const made = make("input", { id, value: value ?? "", size });
    made.addEventListener("input", () => { change(made.value.trim()); preview(); });
    return make("p", { class: "field" }, make("label", { for: id }, label), made);
  }

  const set = (key, value) => { if (value === undefined || value === "") delete said[key]; else said[key] = value; };

  const forms = {
    numbers: () => {
      const tree = said.hierarchy || {};
      const part = (key) => (text) => { said.hierarchy = { ...said.hierarchy }; if (text === "") delete said.hierarchy[key]; else said.hierarchy[key] = Number(text); };
      return [field("low", "From", tree.low, part("low")), field("high", "To", tree.high, part("high")), ...(tree.kind === "grown" ? [field("grid", "Told apart in steps of", tree.grid, part("grid"))] : [])];
    },
    values: () => {
      const made = make("textarea", { id: "values", rows: 8, cols: 40, spellcheck: "false" });
      made.value = (said.values || []).join("\n");
      made.addEventListener("input", () => { set("values", made.value.split("\n").map((one) => one.trim()).filter(Boolean)); preview(); });
      return [make("p", {}, make("label", { for: "values" }, "Every value that there can be, one a line"), make("br"), made)];
    },
    tree: () => {
      const tree = said.hierarchy || {};
      if (!tree.bundled && (tree.tree || tree.groups || tree.kind)) return [make("p", { class: "muted" }, "The tree stands in the plan itself.")];
      const made = make("select", { id: "which" }, ...(tree.file ? [make("option", { value: "" }, tree.file)] : []), ...bundled.map((one) => make("option", { value: one, selected: tree.bundled === one }, one)));
      made.addEventListener("change", () => { said.hierarchy = made.value ? { bundled: made.value } : tree; preview(); });
      return [make("p", { class: "field" }, make("label", { for: "which" }, "Which tree"), made)];
    },
    discover: () => [make("p", { class: "muted" }, "Ranges of numbers are found with epsilon alone, values of texts only with delta. Nothing is read off the rows without noise.")],
  };

  const fresh = {
    numbers: () => ({ hierarchy: { kind: "grown", low: 0, high: 100, grid: 1 } }),
    values: () => ({ values: [] }),
    tree: () => ({ hierarchy: { bundled: bundled[0] } }),
    discover: () => ({ domain_from: "discover", ...(["integer", "real"].includes(inPlan().type) && !target() ? { hierarchy: { kind: "grown" } } : {}) }),
  };

  // What a column says beside its domain stays as it is.
  const beside = (one) => Object.fromEntries(Object.entries(one).filter(([key]) => !["hierarchy", "values", "domain_from", "within", "other", "base"].includes(key)));

  function draw() {
    kind.value = kindOf(said);
    fields.replaceChildren(...forms[kind.value]());
    document.getElementById("who").hidden = kind.value === "discover";
    document.getElementById("elsewhere").hidden = !["values", "tree"].includes(kind.value);
    knownBy.value = said.domain_from === "public" || said.domain_from === "profile" ? "public" : "declared";
    other.value = said.other || "";
    preview();
  }

  let asked = 0;
  async function preview() {
    const mine = ++asked;
    take.disabled = JSON.stringify(said) === JSON.stringify(inPlan());
    try {
      const found = await api("POST", `${base}/declared`, { column, said });
      if (mine !== asked) return;
      problem.textContent = said.domain_from === "profile" ? "This domain was read off the rows. Check it, correct it, say that it is public, and take it." : "";
      document.getElementById("meaning").textContent = found.words;
      document.getElementById("domain-notes").replaceChildren(...found.notes.map((note) => make("li", {}, note)));
    } catch (error) { if (mine === asked) problem.textContent = error.message; }
  }

  kind.addEventListener("change", () => {
    said = kindOf(inPlan()) === kind.value ? structuredClone(inPlan()) : { ...beside(inPlan()), ...fresh[kind.value]() };
    draw();
  });
  knownBy.addEventListener("change", () => { set("domain_from", knownBy.value === "public" ? "public" : undefined); preview(); });
  other.addEventListener("input", () => { set("other", other.value.trim()); preview(); });
  take.addEventListener("click", async () => {
    if (said.domain_from === "profile") set("domain_from", knownBy.value === "public" ? "public" : undefined);
    const keys = new Set([...Object.keys(inPlan()), ...Object.keys(said)]);
    const changed = [...keys].filter((key) => JSON.stringify(said[key]) !== JSON.stringify(inPlan()[key]));
    await edit(changed.map((key) => [["columns", column, key], said[key] ?? null]));
    notice("The plan has this domain now.");
  });
  document.addEventListener("plan", () => { said = structuredClone(inPlan()); draw(); });
  said = structuredClone(inPlan());
  draw();
}
