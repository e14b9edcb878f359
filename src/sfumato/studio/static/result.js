import { api, base, edit, make, notice, number, project } from "./studio.js";

const lattice = document.getElementById("lattice");
if (lattice) {
  const nodes = document.getElementById("nodes");
  const take = document.getElementById("take-node");
  const released = JSON.parse(lattice.dataset.levels);
  let here = released;

  const same = (one, other) => Object.entries(one).every(([name, level]) => other[name] === level);
  const title = (levels) => Object.entries(levels).map(([name, level]) => `${name} ${level}`).join(", ");

  function box(node, words, kind) {
    const facts = node.feasible
      ? `${lattice.dataset.metric} ${number(node.value)}; ${node.suppressed.toLocaleString("en")} rows suppressed; groups of ${node.smallest.toLocaleString("en")} or more`
      : "does not meet the requirement";
    return make("button", { type: "button", class: `node ${kind} ${node.feasible ? "fits" : "fails"}`, onclick: () => show(node.levels), title: title(node.levels) },
      make("strong", {}, words), make("span", { class: "small" }, facts));
  }

  async function show(levels) {
    try {
      const found = await api("POST", `${base}/run/${lattice.dataset.run}/around`, { levels });
      here = found.here.levels;
      const named = (one) => `${one.column} ${one.step > 0 ? "coarser" : "finer"} (${one.levels[one.column]} of ${one.heights[one.column]})`;
      nodes.replaceChildren(
        make("div", { class: "nodes-row" }, ...found.near.filter((one) => one.step < 0).map((one) => box(one, named(one), "finer"))),
        make("div", { class: "nodes-row" }, box(found.here, same(here, released) ? "this release" : title(here), "here")),
        make("div", { class: "nodes-row" }, ...found.near.filter((one) => one.step > 0).map((one) => box(one, named(one), "coarser"))));
      take.disabled = !found.here.feasible || same(here, released);
    } catch (error) { nodes.replaceChildren(make("p", { class: "problem" }, error.message)); }
  }

  take.addEventListener("click", async () => {
    await edit([[["algorithm", "name"], "levels"], [["algorithm", "levels"], here]]);
    notice("The plan names these levels now; the next search releases them.");
    location.href = `/p/${encodeURIComponent(project)}/search`;
  });
  show(released);
}
