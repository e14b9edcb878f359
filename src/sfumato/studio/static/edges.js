import { make } from "./studio.js";

const SVG = "http://www.w3.org/2000/svg";

// Bars of how the numbers lie, drawn behind the edges.
function bars(spread, low, high) {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("viewBox", `0 0 ${spread.counts.length} 10`);
  made.setAttribute("preserveAspectRatio", "none");
  made.setAttribute("aria-hidden", "true");
  const most = Math.max(...spread.counts, 1);
  spread.counts.forEach((rows, at) => {
    const bar = document.createElementNS(SVG, "rect");
    const tall = (10 * rows) / most;
    for (const [name, value] of Object.entries({ x: at, y: 10 - tall, width: 0.9, height: tall })) bar.setAttribute(name, value);
    made.append(bar);
  });
  const wide = high - low || 1;
  made.style.left = `${(100 * (spread.low - low)) / wide}%`;
  made.style.width = `${(100 * (spread.high - spread.low)) / wide}%`;
  return made;
}

// Edges of intervals on a line: drag them, move them by arrow keys, remove them by Delete, or type them.
export function edges(tree, spread, changed) {
  const place = make("div", { class: "edges" });
  const low = () => tree.low ?? spread?.low ?? 0;
  const high = () => tree.high ?? spread?.high ?? 100;
  const unit = () => (high() - low() > 20 ? 1 : (high() - low()) / 100);
  const nearest = (value) => Number(Math.min(Math.max(low() + Math.round((value - low()) / unit()) * unit(), low()), high()).toFixed(6));
  const levels = () => (Array.isArray(tree.cuts[0]) ? tree.cuts : [tree.cuts]);

  // Coarser levels keep only edges that the finest one has.
  function take(finest, coarser = levels().slice(1)) {
    const fine = [...new Set(finest)].sort((a, b) => a - b);
    const kept = [fine];
    for (const one of coarser) {
      const before = kept[kept.length - 1];
      const some = one.filter((edge) => before.includes(edge));
      if (some.length < before.length) kept.push(some);
    }
    tree.cuts = kept;
    changed();
  }

  function moved(from, to) {
    const swap = (all) => all.map((one) => (one === from ? to : one));
    take(swap(levels()[0]), levels().slice(1).map(swap));
  }

  function handle(line, edge) {
    let now = edge;
    const made = make("button", { type: "button", class: "edge", role: "slider", "aria-label": "Edge", "aria-valuemin": low(), "aria-valuemax": high() }, make("span", {}, edge));
    const put = (value) => {
      made.style.left = `${(100 * (value - low())) / (high() - low() || 1)}%`;
      made.setAttribute("aria-valuenow", value);
      made.firstChild.textContent = value;
    };
    put(edge);
    made.addEventListener("pointerdown", (event) => made.setPointerCapture(event.pointerId));
    made.addEventListener("pointermove", (event) => {
      if (!made.hasPointerCapture(event.pointerId)) return;
      const box = line.getBoundingClientRect();
      now = nearest(low() + ((event.clientX - box.left) / box.width) * (high() - low()));
      put(now);
    });
    made.addEventListener("pointerup", () => { if (now !== edge) { moved(edge, now); draw(); } });
    made.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (by !== undefined) {
        event.preventDefault();
        const to = nearest(edge + by * unit());
        moved(edge, to);
        draw();
        focusOn(to);
      } else if ((event.key === "Delete" || event.key === "Backspace") && levels()[0].length > 1) {
        event.preventDefault();
        take(levels()[0].filter((one) => one !== edge));
        draw();
      }
    });
    return made;
  }

  function focusOn(edge) {
    const found = [...place.querySelectorAll(".edge")].find((one) => Number(one.getAttribute("aria-valuenow")) === edge);
    if (found) found.focus();
  }

  function more() {
    const all = [low(), ...levels()[0], high()];
    let at = 0;
    for (let n = 1; n < all.length - 1; n += 1) if (all[n + 1] - all[n] > all[at + 1] - all[at]) at = n;
    take([...levels()[0], nearest((all[at] + all[at + 1]) / 2)]);
    draw();
  }

  function coarser() {
    const last = levels()[levels().length - 1];
    take(levels()[0], [...levels().slice(1), last.filter((_, at) => at % 2 === 1)]);
    draw();
  }

  function kept(level, at) {
    const before = levels()[at - 1];
    return make("fieldset", { class: "kept" }, make("legend", {}, `Edges that level ${at + 1} keeps`), ...before.map((edge) => {
      const box = make("input", { type: "checkbox", checked: level.includes(edge) });
      box.addEventListener("change", () => {
        const next = levels().slice(1);
        next[at - 1] = box.checked ? [...level, edge].sort((a, b) => a - b) : level.filter((one) => one !== edge);
        take(levels()[0], next);
        draw();
      });
      return make("label", {}, box, ` ${edge}`);
    }));
  }

  function draw() {
    const line = make("div", { class: "line" }, spread ? bars(spread, low(), high()) : null);
    line.append(...levels()[0].map((edge) => handle(line, edge)));
    const typed = make("input", { id: "field-cuts", size: 40, value: levels()[0].join(", ") });
    typed.addEventListener("change", () => {
      const found = typed.value.split(/[\s,;]+/).filter(Boolean).map(Number).filter(Number.isFinite);
      if (found.length) { take(found); draw(); }
    });
    place.replaceChildren(
      make("p", { class: "small muted" }, "Drag an edge, or move it with the arrow keys; Delete removes it. The bars show how many rows there are."),
      line,
      make("p", { class: "row ends" }, make("span", {}, low()), make("span", {}, high())),
      make("p", { class: "row" }, make("label", { for: "field-cuts" }, "Edges of level 1"), typed, make("button", { type: "button", class: "quiet", onclick: more }, "Add an edge")),
      ...levels().slice(1).map((level, at) => kept(level, at + 1)),
      make("p", { class: "row" }, make("button", { type: "button", class: "quiet", onclick: coarser, disabled: levels()[levels().length - 1].length < 2 }, "Add a coarser level"),
        levels().length > 1 ? make("button", { type: "button", class: "quiet", onclick: () => { take(levels()[0], levels().slice(1, -1)); draw(); } }, "Remove the coarsest level") : null));
  }
  draw();
  return place;
}
