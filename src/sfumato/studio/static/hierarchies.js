import { edges } from "./edges.js";
import { groups, read, written } from "./groups.js";
import { api, base, edit, make, notice, plan } from "./studio.js";

const editor = document.getElementById("editor");
if (editor) {
  const column = editor.dataset.column;
  const key = editor.dataset.key;
  const kind = document.getElementById("kind");
  const fields = document.getElementById("fields");
  const problem = document.getElementById("hierarchy-problem");
  const take = document.getElementById("take");
  let tree = {};
  let spread = null;

  const inPlan = () => ((plan.tree.columns || {})[column] || {})[key] || { kind: "flat" };
  const kindOf = (one) => (one.cuts ? "edges" : one.kind || (one.tree ? "tree" : one.bundled ? "bundled" : one.file ? "file" : "flat"));
  const numbers = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);
  const words = (text) => text.split(/[\s,;]+/).filter(Boolean);

  const forms = {
    intervals: () => [
      field("widths", "Widths of the levels, each a multiple of the one before", (tree.widths || []).join(", "), numbers),
      field("low", "From", tree.low, Number, 10),
      field("high", "To", tree.high, Number, 10),
      slider(),
    ],
    edges: () => [field("low", "From", tree.low, Number, 10, true), field("high", "To", tree.high, Number, 10, true), edges(tree, spread, preview)],
    mask: () => [choice("from", "From which end", ["right", "left"])],
    dates: () => [field("levels", "Levels (week, month, quarter, year, decade)", (tree.levels || ["month", "year", "decade"]).join(", "), words)],
    flat: () => [make("p", { class: "muted" }, "Nothing to say: a value stays as it is, or becomes *.")],
    groups: () => {
      const root = tree.groups ? read("*", tree.groups) : null;
      return root ? [groups(root, false, () => { tree.groups = lists(root); preview(); })] : [field("order", "Values in their order", (tree.order || []).join(", "), words), field("sizes", "Sizes of the groups", (tree.sizes || []).join(", "), numbers)];
    },
    tree: () => {
      const outer = Object.keys(tree.tree || {});
      const name = outer.length === 1 ? outer[0] : "*";
      const root = read(name, outer.length === 1 ? tree.tree[name] : tree.tree || {});
      return [groups(root, true, () => { tree.tree = { [name]: written(root) }; preview(); })];
    },
    bundled: () => [choice("bundled", "Which", JSON.parse(editor.dataset.bundled))],
    file: () => [field("file", "File, beside the plan", tree.file || "", String)],
  };

  const lists = (root) => Object.fromEntries(root.children.filter((one) => typeof one !== "string" && one.children.length).map((one) => [one.name, one.children]));

  function field(key, label, value, parse, size = 40, again = false) {
    const made = make("input", { id: `field-${key}`, value: value === undefined ? "" : value, size });
    made.addEventListener(again ? "change" : "input", () => {
      if (made.value.trim() === "") delete tree[key];
      else tree[key] = parse(made.value);
      if (again) fields.replaceChildren(...forms[kind.value]());
      preview();
    });
    return make("p", { class: "field" }, make("label", { for: `field-${key}` }, label), made);
  }

  function choice(key, label, options) {
    const made = make("select", { id: `field-${key}` }, ...options.map((one) => make("option", { value: one, selected: tree[key] === one }, one)));
    if (!tree[key]) tree[key] = options[0];
    made.addEventListener("change", () => { tree[key] = made.value; preview(); });
    return make("p", { class: "field" }, make("label", { for: `field-${key}` }, label), made);
  }

  // The finest width as a slider: dragging it moves the others along.
  function slider() {
    const span = Math.max((tree.high ?? spread?.high ?? 100) - (tree.low ?? spread?.low ?? 0), 1);
    const made = make("input", { type: "range", id: "drag", min: 1, max: Math.max(Math.round(span / 4), 2), value: (tree.widths || [1])[0] });
    made.addEventListener("input", () => {
      const by = Number(made.value) / (tree.widths || [1])[0];
      tree.widths = (tree.widths || [Number(made.value)]).map((one) => Math.round(one * by));
      document.getElementById("field-widths").value = tree.widths.join(", ");
      preview();
    });
    return make("p", { class: "field" }, make("label", { for: "drag" }, "Drag: the finest width"), made);
  }

  function drawn(level) {
    const most = Math.max(...level.labels.map(([, rows]) => rows), 1);
    return make("section", {},
      make("h4", {}, `Level ${level.number}: ${level.different.toLocaleString("en")} ${level.different === 1 ? "label" : "labels"}`),
      make("ul", { tabindex: 0, "aria-label": `Labels of level ${level.number}` }, ...level.labels.slice(0, 40).map(([label, rows]) => {
        const bar = make("meter", { min: 0, max: most, value: rows, "aria-hidden": "true" });
        return make("li", {}, make("span", { class: "name" }, label), bar, make("span", { class: "muted num" }, rows.toLocaleString("en")));
      })),
      level.different > 40 ? make("p", { class: "muted small" }, `and ${(level.different - 40).toLocaleString("en")} more`) : null);
  }

  let asked = 0;
  async function preview() {
    const mine = ++asked;
    take.disabled = JSON.stringify(tree) === JSON.stringify(inPlan());
    try {
      const found = await api("POST", `${base}/levels`, { column, tree, key });
      if (mine !== asked) return;
      problem.textContent = "";
      document.getElementById("levels").replaceChildren(...found.levels.map(drawn));
    } catch (error) {
      if (mine === asked) problem.textContent = error.message;
    }
  }

  async function start(one) {
    tree = structuredClone(one);
    const named = kindOf(tree);
    if (![...kind.options].some((each) => each.value === named)) kind.append(make("option", { value: named }, named));
    kind.value = named;
    fields.replaceChildren(...(forms[named] || (() => [make("p", { class: "muted" }, "This kind is edited in the plan.")]))());
    await preview();
  }

  const fresh = {
    intervals: () => ({ kind: "intervals", widths: [5, 10, 20], ...ends(20) }),
    edges: () => { const { low, high } = ends(4); return { kind: "intervals", cuts: [[1, 2, 3].map((n) => low + ((high - low) * n) / 4)], low, high }; },
    mask: () => ({ kind: "mask", from: "right" }),
    dates: () => ({ kind: "dates", levels: ["month", "year", "decade"] }),
    flat: () => ({ kind: "flat" }),
    bundled: () => ({ bundled: JSON.parse(editor.dataset.bundled)[0] }),
    file: () => ({ file: "" }),
  };

  // Limits that all values lie between, at multiples of a step.
  function ends(step) {
    if (!spread) return { low: 0, high: 100 };
    const low = Math.floor(spread.low / step) * step;
    return { low, high: Math.max(Math.ceil((spread.high + 1e-9) / step) * step, low + step) };
  }

  kind.addEventListener("change", async () => {
    const before = tree;
    if (kindOf(inPlan()) === kind.value) return start(inPlan());
    try {
      if (kind.value === "tree") return await start(await api("POST", `${base}/nested`, { column, tree: before, key }));
      if (kind.value === "groups") {
        const flat = await api("POST", `${base}/nested`, { column, tree: { kind: "flat" }, key });
        return await start({ kind: "groups", groups: { other: Object.values(flat.tree)[0] } });
      }
      return await start(fresh[kind.value]());
    } catch (error) { problem.textContent = error.message; }
  });
  take.addEventListener("click", async () => {
    await edit([[["columns", column, key], tree]]);
    notice("The plan has this hierarchy now.");
  });
  document.getElementById("import").addEventListener("change", async (event) => {
    try {
      const found = await api("PUT", `${base}/hierarchy?column=${encodeURIComponent(column)}&key=${key}`, event.target.files[0]);
      await start(found.tree);
      notice("The file is read; take it into the plan, or edit it as a tree.");
    } catch (error) { notice(error.message, "bad"); }
    event.target.value = "";
  });
  document.addEventListener("plan", () => start(inPlan()));
  try { spread = (await api("GET", `${base}/spread?column=${encodeURIComponent(column)}&key=${key}`)).spread; } catch (error) { problem.textContent = error.message; }
  await start(inPlan());
  kind.disabled = false;
}
