// What every page shares: requests that carry our header, notices, and the panel with the plan.

export const header = document.querySelector('meta[name="sfumato-header"]').content;

export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((one) => one !== null && one !== undefined));
  return made;
}

export function notice(text, kind = "") {
  const place = document.getElementById("notice");
  place.textContent = text;
  place.className = kind;
  if (text) setTimeout(() => { if (place.textContent === text) notice(""); }, 8000);
}

// The pointer shows that an answer is awaited; short gaps between two requests do not count.
let awaited = 0;
function busy(more) {
  awaited += more;
  if (awaited) document.body.classList.add("busy");
  else setTimeout(() => { if (!awaited) document.body.classList.remove("busy"); }, 50);
}

export async function api(method, address, body) {
  busy(1);
  try { return await asked(method, address, body); } finally { busy(-1); }
}

async function asked(method, address, body) {
  const options = { method, headers: { "x-sfumato": header } };
  if (body !== undefined && !(body instanceof Blob)) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  } else if (body !== undefined) options.body = body;
  const answer = await fetch(address, options);
  const found = await answer.json();
  if (!answer.ok || found.error) {
    const error = new Error(found.error || "That did not work.");
    error.found = found;
    error.status = answer.status;
    throw error;
  }
  return found;
}

// What stands where an answer will: it can be stopped.
export function working() {
  const stop = () => api("POST", "/api/stop", {}).catch((error) => notice(error.message, "bad"));
  return make("p", { class: "row muted" }, make("progress", { "aria-label": "Working" }), "Working … ", make("button", { type: "button", class: "quiet small", onclick: stop }, "Stop"));
}

const main = document.getElementById("main");
export const project = main ? main.dataset.project : undefined;
export const base = project ? `/api/p/${encodeURIComponent(project)}` : "";
export const plan = { tree: main && main.dataset.tree ? JSON.parse(main.dataset.tree) : {}, revision: "", text: "", problem: "" };

const text = document.getElementById("plan-text");
const save = document.getElementById("plan-save");
const undo = document.getElementById("plan-undo");

// A plan of another kind has other forms on these pages.
const byKind = ["hierarchies", "requirement", "search"].includes(location.pathname.split("/")[3]);

// Takes a state of the plan over. What somebody typed meanwhile stays, unless it is what was saved or discarded.
function show(state, typed = false) {
  const mine = text && !typed && text.value !== plan.text ? text.value : undefined;
  Object.assign(plan, state);
  if (byKind && mine === undefined && state.kind && state.kind !== main.dataset.kind) return location.reload();
  if (text) {
    text.value = mine ?? state.text;
    text.dataset.revision = state.revision;
    document.getElementById("plan-problem").textContent = state.problem || "";
    save.disabled = undo.disabled = mine === undefined;
    if (mine !== undefined) notice("The plan changed while you typed. Your text is still here; saving it replaces the other.", "bad");
  }
  document.dispatchEvent(new CustomEvent("plan"));
}

let waiting = Promise.resolve();

// One edit after the other, each on what the one before has left.
export function edit(changes) {
  waiting = waiting.then(async () => {
    if (text && text.value !== plan.text) {
      notice("Save or discard your edit of the plan first.", "bad");
      document.dispatchEvent(new CustomEvent("plan"));
      return;
    }
    try {
      show(await api("POST", `${base}/edit`, { changes, revision: plan.revision }));
    } catch (error) {
      if (error.status === 409) show(error.found);
      notice(error.message, "bad");
    }
  });
  return waiting;
}

// The whole plan made anew by the server; gives its answer, or nothing where it was refused.
export async function replace(address, body) {
  try {
    const found = await api("POST", address, { ...body, revision: plan.revision });
    show(found);
    return found;
  } catch (error) {
    if (error.status === 409) show(error.found);
    notice(error.message, "bad");
  }
}

if (text) {
  plan.text = text.defaultValue;
  plan.revision = text.dataset.revision;
  const typed = () => { save.disabled = undo.disabled = text.value === plan.text; };
  text.addEventListener("input", typed);
  typed();
  undo.addEventListener("click", () => show(plan, true));
  save.addEventListener("click", async () => {
    const mine = text.value;
    try {
      show(await api("PUT", `${base}/plan`, { text: mine, revision: plan.revision }), text.value === mine);
      notice("The plan is saved.");
    } catch (error) {
      if (error.status === 409) {
        plan.revision = error.found.revision;
        notice("The plan was changed elsewhere meanwhile. Your text is still here; saving it again replaces the other.", "bad");
      } else notice(error.message, "bad");
    }
  });
  if (matchMedia("(max-width: 1100px)").matches) document.getElementById("plan-panel").open = false;
}

export function number(value) {
  return typeof value === "number" ? value.toLocaleString("en", { maximumSignificantDigits: 4 }) : "–";
}

export const count = (value) => (typeof value === "number" ? value.toLocaleString("en") : "–");
export const share = (value) => (value > 0 && value < 0.001 ? "< 0.1 %" : `${(100 * value).toLocaleString("en", { maximumFractionDigits: 1 })} %`);

for (const one of document.querySelectorAll("[data-read]")) {
  one.addEventListener("click", async () => {
    document.getElementById("hint").remove();
    main.focus();
    try { await api("POST", `${base}/read`, { step: one.dataset.read }); } catch (error) { notice(error.message, "bad"); }
  });
}
