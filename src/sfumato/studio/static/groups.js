import { make } from "./studio.js";

const MOST = 200;

// A tree as a plan writes it (tables are groups, lists hold values), and as it is edited here.
export function read(name, node) {
  const children = Array.isArray(node)
    ? node.flatMap((one) => (one && typeof one === "object" ? Object.entries(one).map(([key, inner]) => read(key, inner)) : [String(one)]))
    : Object.entries(node).map(([key, inner]) => read(key, inner));
  return { name, children };
}

export function written(node) {
  const full = node.children.filter((one) => typeof one === "string" || holds(one));
  const groups = full.filter((one) => typeof one !== "string");
  if (groups.length === full.length) return Object.fromEntries(groups.map((one) => [one.name, written(one)]));
  return full.map((one) => (typeof one === "string" ? one : { [one.name]: written(one) }));
}

const holds = (node) => node.children.some((one) => typeof one === "string" || holds(one));

// Groups within groups: values and groups move by dragging, or by choosing where they go.
export function groups(root, deep, changed) {
  const place = make("div", { class: "groups" });
  let dragged = null;

  const all = (node, path = []) => [[node, path], ...node.children.filter((one) => typeof one !== "string").flatMap((one) => all(one, [...path, one.name]))];
  const parentOf = (item, node = root) => {
    if (node.children.includes(item)) return node;
    for (const one of node.children) if (typeof one !== "string") { const found = parentOf(item, one); if (found) return found; }
    return null;
  };
  const within = (node, item) => node === item || (typeof item !== "string" && item.children.some((one) => typeof one !== "string" && within(node, one)));
  const title = (path) => (path.length ? path.join(" / ") : "not in a group");

  function move(item, from, to) {
    if (!to || from === to || within(to, item)) return;
    from.children.splice(from.children.indexOf(item), 1);
    to.children.push(item);
    done();
  }

  function done() { draw(); changed(); }

  function chooser(item, from, label) {
    const targets = all(root).filter(([node]) => (deep || node === root || parentOf(node) === root) && !within(node, item));
    const made = make("select", { "aria-label": label }, ...targets.map(([node, path], at) => make("option", { value: at, selected: node === from }, title(path))));
    made.addEventListener("change", () => move(item, from, targets[Number(made.value)][0]));
    return made;
  }

  function draggable(made, item, from) {
    made.draggable = true;
    made.addEventListener("dragstart", (event) => { event.stopPropagation(); event.dataTransfer.setData("text/plain", ""); dragged = { item, from }; });
    return made;
  }

  function value(item, from) {
    return draggable(make("div", { class: "member" }, make("span", {}, item), chooser(item, from, `group of ${item}`)), item, from);
  }

  function box(node, parent) {
    const values = node.children.filter((one) => typeof one === "string");
    const inner = node.children.filter((one) => typeof one !== "string");
    const named = make("input", { "aria-label": `name of the group ${node.name}`, size: 14, value: node.name });
    named.addEventListener("change", () => {
      if (named.value && !parent.children.some((one) => one !== node && one.name === named.value)) { node.name = named.value; done(); } else named.value = node.name;
    });
    const made = make("fieldset", { "data-group": node.name }, make("legend", {}, named,
      deep ? make("button", { type: "button", class: "plain small", title: "A group inside", "aria-label": `a new group inside ${node.name}`, onclick: () => { node.children.push({ name: fresh("group"), children: [] }); done(); } }, "＋") : null,
      make("button", { type: "button", class: "plain small", title: "Dissolve the group", "aria-label": `dissolve the group ${node.name}`, onclick: () => { parent.children.splice(parent.children.indexOf(node), 1, ...node.children); done(); } }, "✕")),
      deep && parent !== root ? make("p", { class: "small muted" }, "in ", chooser(node, parent, `where the group ${node.name} lies`)) : null,
      ...inner.map((one) => box(one, node)),
      ...values.slice(0, MOST).map((one) => value(one, node)),
      values.length > MOST ? make("p", { class: "muted small" }, `and ${(values.length - MOST).toLocaleString("en")} more`) : null,
      node.children.length ? null : make("p", { class: "muted small" }, "Empty: drag values here. Empty groups are left out of the plan."));
    drop(made, node);
    return deep ? draggable(made, node, parent) : made;
  }

  function drop(made, node) {
    made.addEventListener("dragover", (event) => { event.preventDefault(); event.stopPropagation(); });
    made.addEventListener("drop", (event) => { event.preventDefault(); event.stopPropagation(); if (dragged) move(dragged.item, dragged.from, node); dragged = null; });
  }

  function fresh(word) {
    const taken = new Set(all(root).map(([node]) => node.name));
    let at = 1;
    while (taken.has(`${word} ${at}`)) at += 1;
    return `${word} ${at}`;
  }

  function draw() {
    const loose = root.children.filter((one) => typeof one === "string");
    const name = make("input", { "aria-label": "name of a new group", size: 16, value: fresh("group") });
    place.replaceChildren(
      ...root.children.filter((one) => typeof one !== "string").map((one) => box(one, root)),
      loose.length ? make("fieldset", {}, make("legend", {}, "not in a group"), ...loose.slice(0, MOST).map((one) => value(one, root)), loose.length > MOST ? make("p", { class: "muted small" }, `and ${(loose.length - MOST).toLocaleString("en")} more`) : null) : "",
      make("p", { class: "row" }, name, make("button", { type: "button", class: "quiet", onclick: () => { if (name.value && !root.children.some((one) => one.name === name.value)) { root.children.push({ name: name.value, children: [] }); done(); } } }, "Add a group")));
  }
  drop(place, root);
  draw();
  return place;
}
