import { api, make, notice, number, share, working } from "./studio.js";

// Questions under a budget: the form writes SQL, and whoever likes writes it by hand.
const asking = document.getElementById("asking");
if (asking) {
  const base = `/api/p/${encodeURIComponent(asking.dataset.name)}`;
  const [told, what, column, by, sql, analyst] = ["told", "what", "column", "by", "sql", "analyst"].map((id) => document.getElementById(id));
  const value = (id) => document.getElementById(id).value;
  const table = (heads, rows, caption) => make("table", {}, caption ? make("caption", {}, caption) : null,
    make("thead", {}, make("tr", {}, ...heads.map(([head, kind]) => make("th", { scope: "col", class: kind }, head)))), make("tbody", {}, ...rows));

  function accounts(found) {
    const rows = found.map((one) => make("tr", {}, make("th", { scope: "row" }, one.analyst || "everybody together"), ...[one.granted, one.spent, one.left].map((cell) => make("td", { class: "num" }, cell))));
    document.getElementById("accounts").replaceChildren(found.length
      ? table([["who", ""], ["granted", "num"], ["spent", "num"], ["left", "num"]], rows)
      : make("p", { class: "muted" }, "Nothing is granted yet, so nothing can be asked."));
    const before = analyst.value;
    analyst.replaceChildren(...found.filter((one) => one.analyst).map((one) => make("option", {}, one.analyst)));
    if ([...analyst.options].some((one) => one.value === before)) analyst.value = before;
  }

  function columns(found) {
    const open = Object.entries(found.profiled);
    document.getElementById("askable").textContent = open.length
      ? "These limits were read off the rows, and one person can move them. Confirm each only if everybody could know it; correct it in the plan otherwise."
      : found.columns.length
        ? "Only columns with a declared domain can be asked about: the noise must know what they can hold."
        : "No column has a declared domain yet, so only rows can be counted. Declare limits or values in the plan.";
    document.getElementById("profiled").replaceChildren(...open.map(([name, words]) => make("li", {}, make("strong", {}, name), `: ${words} `,
      make("button", { type: "button", class: "quiet small", "aria-label": `the domain of ${name} is public`, onclick: () => confirmed(name) }, "It is public"))));
    const options = (first) => [make("option", { value: "" }, first), ...found.columns.map((one) => make("option", {}, one))];
    column.replaceChildren(...options("all"));
    by.replaceChildren(...options("none"));
  }

  async function confirmed(name) {
    try { columns(await api("POST", `${base}/confirm`, { column: name })); } catch (error) { notice(error.message, "bad"); }
  }

  const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
  function write() {
    const counted = what.value === "COUNT" || !column.value ? "COUNT(*)" : `${what.value}(${quoted(column.value)})`;
    sql.value = by.value ? `SELECT ${quoted(by.value)}, ${counted} GROUP BY ${quoted(by.value)}` : `SELECT ${counted}`;
  }
  for (const one of [what, column, by]) one.addEventListener("change", write);

  const answered = (one) => { const most = Math.max(...one.rows.map((row) => row.value), 1); return make("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": one.name },
    table([...one.by.map((name) => [name, ""]), ["noisy value", "num"], ["", "bar"], ["from", "num"], ["to", "num"]],
      one.rows.map((row) => make("tr", {}, ...row.group.map((cell) => make("th", { scope: "row" }, cell)), 
        make("td", { class: "num" }, number(row.value)), make("td", { class: "bar" }, make("meter", { min: 0, max: most, value: Math.max(row.value, 0), "aria-hidden": "true" })), ...[row.low, row.high].map((cell) => make("td", { class: "num" }, number(cell))))),
      `${one.name}, each interval with ${share(one.confidence)} confidence`)); };

  function sent(id, address, body, draw) {
    const form = document.getElementById(id);
    form.querySelector("button").disabled = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      told.replaceChildren(working());
      try {
        const found = await api("POST", `${base}/${address}`, body());
        told.replaceChildren(...draw(found));
        accounts(found.accounts);
      } catch (error) { told.replaceChildren(make("p", { class: "problem" }, error.message)); notice(error.message, "bad"); }
    });
  }

  try {
    const found = await api("GET", `${base}/budget`);
    accounts(found.accounts);
    columns(found);
  } catch (error) { told.replaceChildren(make("p", { class: "problem" }, error.message)); }
  sent("grant", "grant", () => ({ limit: value("limit"), analyst: value("whom") }), () => []);
  sent("ask", "ask", () => ({ sql: sql.value, epsilon: value("epsilon"), analyst: analyst.value }), (found) => found.answers.map(answered));
}
