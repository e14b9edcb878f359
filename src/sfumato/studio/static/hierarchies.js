import { api, base, edit, make, plan } from "./studio.js";

const editor = document.getElementById("editor");
if (editor) {
  const column = editor.dataset.column;
  const kind = document.getElementById("kind");
  const fields = document.getElementById("fields");
  const problem = document.getElementById("hierarchy-problem");
  let tree = {};

  const inPlan = () => ((plan.tree.columns || {})[column] || {}).hierarchy || { kind: "flat" };
  const kindOf = (one) => one.kind || (one.tree ? "tree" : one.bundled ? "bundled" : one.file ? "file" : "flat");
  const numbers = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);

  const forms = {
    intervals: () => [
      field("widths", "Widths, each a multiple of the one before", (tree.widths || []).join(", "), numbers),
      field("low", "From", tree.low, Number),
      field("high", "To", tree.high, Number),
      handles(),
    ],
    mask: () => [choice("from", "From which end", ["right", "left"])],
    dates: () => [field("levels", "Levels (week, month, quarter, year, decade)", (tree.levels || ["month", "year", "decade"]).join(", "), (text) => text.split(/[\s,;]+/).filter(Boolean))],
    flat: () => [make("p", { class: "muted" }, "Nothing to say: a value stays as it is, or becomes *.")],
    groups: () => [groups()],
    tree: () => [area()],
    bundled: () => [field("bundled", "Name", tree.bundled || "", String)],
    file: () => [field("file", "File, beside the plan", tree.file || "", String)],
  };

  function field(key, label, value, read) {
    const made = make("input", { id: `field-${key}`, value: value === undefined ? "" : value, size: 40 });
    made.addEventListener("input", () => {
      if (made.value.trim() === "") delete tree[key];
      else tree[key] = read(made.value);
      preview();
    });
    return make("p", {}, make("label", { for: `field-${key}` }, label), make("br"), made);
  }

  function choice(key, label, options) {
    const made = make("select", { id: `field-${key}` }, ...options.map((one) => make("option", { value: one, selected: tree[key] === one }, one)));
    made.addEventListener("change", () => { tree[key] = made.value; preview(); });
    return make("p", {}, make("label", { for: `field-${key}` }, label), " ", made);
  }

  // The finest width as a slider: dragging it moves the others along.
  function handles() {
    const span = Math.max((tree.high || 100) - (tree.low || 0), 1);
    const made = make("input", { type: "range", id: "drag", min: 1, max: Math.max(Math.round(span / 4), 2), value: (tree.widths || [1])[0] });
    made.addEventListener("input", () => {
      const unit = Number(made.value);
      tree.widths = (tree.widths || [unit]).map((_, at) => unit * 2 ** at);
      document.getElementById("field-widths").value = tree.widths.join(", ");
      preview();
    });
    return make("p", {}, make("label", { for: "drag" }, "Drag: the finest width"), make("br"), made);
  }

  // Values move between named groups by choosing one, or by dragging a value onto a group.
  function groups() {
    const place = make("div", { class: "groups" });
    const drawn = () => {
      const named = tree.groups || {};
      place.replaceChildren(...Object.entries(named).map(([name, values]) => {
        const box = make("fieldset", {}, make("legend", {}, name), ...values.map((value) => member(name, value, named)));
        box.addEventListener("dragover", (event) => event.preventDefault());
        box.addEventListener("drop", (event) => { event.preventDefault(); move(event.dataTransfer.getData("text/plain"), name); });
        return box;
      }), adder());
    };
    const move = (value, to) => {
      for (const values of Object.values(tree.groups)) { const at = values.indexOf(value); if (at >= 0) values.splice(at, 1); }
      tree.groups[to].push(value);
      drawn();
      preview();
    };
    const member = (name, value, named) => {
      const choose = make("select", { "aria-label": `group of ${value}` }, ...Object.keys(named).map((one) => make("option", { value: one, selected: one === name }, one)));
      choose.addEventListener("change", () => move(value, choose.value));
      const made = make("div", { class: "member", draggable: "true" }, make("span", {}, value), choose);
      made.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", value));
      return made;
    };
    const adder = () => {
      const name = make("input", { "aria-label": "name of a new group", size: 16 });
      return make("p", { class: "row" }, name, make("button", { type: "button", class: "quiet", onclick: () => { if (name.value && !tree.groups[name.value]) { tree.groups[name.value] = []; drawn(); } } }, "Add a group"));
    };
    drawn();
    return place;
  }

  function area() {
    const made = make("textarea", { id: "field-tree", rows: 10, spellcheck: "false" });
    made.value = JSON.stringify(tree.tree || {}, null, 2);
    made.addEventListener("input", () => { try { tree.tree = JSON.parse(made.value); preview(); } catch (error) { problem.textContent = `The tree is no JSON yet: ${error.message}`; } });
    return make("p", {}, make("label", { for: "field-tree" }, "Groups by name, values or groups inside"), make("br"), made);
  }

  let asked = 0;
  async function preview() {
    const mine = ++asked;
    try {
      const found = await api("POST", `${base}/levels`, { column, tree });
      if (mine !== asked) return;
      problem.textContent = "";
      document.getElementById("levels").replaceChildren(...found.levels.map((level) => make("section", {},
        make("h4", {}, `Level ${level.number}: ${level.different.toLocaleString("en")} ${level.different === 1 ? "label" : "labels"}`),
        make("ul", { tabindex: 0, "aria-label": `Labels of level ${level.number}` }, ...level.labels.slice(0, 40).map(([label, rows]) => make("li", {}, make("span", {}, label), make("span", { class: "muted num" }, rows.toLocaleString("en"))))),
        level.different > 40 ? make("p", { class: "muted small" }, `and ${(level.different - 40).toLocaleString("en")} more`) : null)));
      return found;
    } catch (error) {
      if (mine === asked) problem.textContent = error.message;
    }
  }

  async function start(one) {
    tree = structuredClone(one);
    kind.value = kindOf(tree);
    fields.replaceChildren(...forms[kind.value]());
    await preview();
  }

  kind.addEventListener("change", async () => {
    const before = inPlan();
    if (kindOf(before) === kind.value) return start(before);
    if (kind.value === "groups") {
      const found = await api("POST", `${base}/levels`, { column, tree: { kind: "flat" } });
      return start({ kind: "groups", groups: { other: found.levels[0].labels.map(([label]) => label) } });
    }
    const fresh = { intervals: { kind: "intervals", widths: [5, 10, 20], low: 0, high: 100 }, mask: { kind: "mask", from: "right" }, dates: { kind: "dates", levels: ["month", "year", "decade"] }, flat: { kind: "flat" }, tree: { tree: {} }, bundled: { bundled: "" }, file: { file: "" } };
    return start(fresh[kind.value]);
  });
  document.getElementById("take").addEventListener("click", () => edit([[["columns", column, "hierarchy"], tree]]));
  document.getElementById("import").addEventListener("change", async (event) => {
    const lines = (await event.target.files[0].text()).split(/\r?\n/).filter(Boolean).map((line) => line.split(line.includes(";") ? ";" : ","));
    const made = {};
    for (const [leaf, ...above] of lines) {
      let place = made;
      for (const name of above.slice(1).reverse()) { place[name] = place[name] && !Array.isArray(place[name]) ? place[name] : {}; place = place[name]; }
      const group = above[0] || "other";
      place[group] = Array.isArray(place[group]) ? place[group] : [];
      place[group].push(leaf);
    }
    start({ tree: made });
  });
  document.addEventListener("plan", () => start(inPlan()));
  start(inPlan());
}
