// The page: what is chosen is in its address, what is drawn comes from the server that serves it.
import { makeCard } from "./cards.js";
import { clock, day } from "./numbers.js";

const RANGES = [["5m", "5 min"], ["15m", "15 min"], ["1h", "1 hour"], ["3h", "3 hours"], ["all", "all"]];
const at = (id) => document.getElementById(id);
const chosen = new URLSearchParams(location.search);
let live = true;
let cards = [];
let drawnKey = "";
let timer = 0;
let asking = null;

const pick = (name, otherwise) => chosen.get(name) || otherwise;

/** Note a choice in the page's address, so that a reload or a copied link shows the same. */
function choose(name, value) {
  chosen.set(name, value);
  history.replaceState(null, "", `?${chosen}`);
  void show();
}

function notify(text) {
  at("notice").textContent = text;
  at("notice").hidden = text === "";
}

/** Nobody answered: there is no server any more. */
class NoAnswer extends Error {}

async function ask(path, signal) {
  const response = await fetch(path, { cache: "no-store", signal }).catch((error) => { throw new NoAnswer(error.message); });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}

function showNames({ title, live: isLive, dashboards }) {
  live = isLive;
  at("source").textContent = live ? `Live: ${title}` : `${title} (over)`;
  at("refreshing").hidden = !live;
  const platform = dashboards.find((name) => name.endsWith("_platform")) ?? dashboards[0];
  if (!dashboards.includes(chosen.get("name"))) chosen.set("name", platform ?? "");
  at("dashboards").replaceChildren(...dashboards.map((name) => {
    const link = Object.assign(document.createElement("a"), { href: `?name=${encodeURIComponent(name)}`, textContent: name });
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;  // another tab or window
      event.preventDefault();
      choose("name", name);
    });
    return link;
  }));
}

function markName() {
  for (const link of at("dashboards").children) {
    if (link.textContent === chosen.get("name")) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${chosen.get("name")} · Onceward dashboards`;
}

function makeRanges() {
  at("ranges").replaceChildren(...RANGES.map(([value, label]) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: label, value });
    button.addEventListener("click", () => choose("range", value));
    return button;
  }));
}

function markChoices(drawn) {
  for (const button of at("ranges").children) button.setAttribute("aria-pressed", String(button.value === drawn.range));
  at("period").value = drawn.period;
  const days = day(drawn.start) === day(drawn.end) ? "" : `${day(drawn.start)} `;
  const until = `${clock(drawn.end)} UTC`;
  at("shown").textContent = `${days}${clock(drawn.start)} to ${days ? `${day(drawn.end)} ` : ""}${until}`;
}

/** A variable's input; the one that has the reader's cursor is left alone. */
function showVariables(variables) {
  const places = at("variables");
  if (places.contains(document.activeElement)) return;
  places.replaceChildren(...variables.map((variable) => {
    const label = Object.assign(document.createElement("label"), { textContent: `${variable.label} ` });
    const input = variable.form === "input" ? document.createElement("input") : document.createElement("select");
    input.id = `variable-${variable.id}`;
    if (variable.form !== "input") {
      const known = variable.choices.some(({ value }) => value === variable.value);
      const choices = known || !variable.value ? variable.choices : [{ value: variable.value, label: `${variable.value} (no data)` }, ...variable.choices];
      input.append(...choices.map(({ value, label: text }) => new Option(text, value)));
      if (choices.length === 0) input.append(new Option("none has data yet", ""));
    }
    input.value = variable.value;
    input.addEventListener("change", () => { input.blur(); choose(`v.${variable.id}`, input.value); });
    label.append(input);
    return label;
  }));
}

function showWidgets(name, widgets) {
  // The same widgets again get new figures; others get new cards.
  const key = JSON.stringify([name, widgets.map(({ kind, view, place }) => [kind, view, place])]);
  if (key !== drawnKey) {
    for (const card of cards) card.destroy();
    cards = widgets.map(makeCard);
    at("grid").replaceChildren(...cards.map(({ root }) => root));
    drawnKey = key;
  }
  cards.forEach((card, number) => card.update(widgets[number]));
}

/** Ask for what is chosen, and draw it; the newest question counts. */
async function show() {
  clearTimeout(timer);
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  markName();
  try {
    const drawn = await ask(`/api/dashboard?${chosen}`, signal);
    showVariables(drawn.variables);
    markChoices(drawn);
    showWidgets(drawn.name, drawn.widgets);
    notify(drawn.notice ?? "");
    document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1);
  } catch (error) {
    if (signal.aborted) return;
    notify(error instanceof NoAnswer
      ? "The server of these dashboards does not answer: it was ended, or is about to come back. What is shown is what it told last."
      : `This dashboard cannot be shown: ${error.message}`);
  }
  const seconds = Number(at("refresh").value);
  if (live && seconds > 0) timer = setTimeout(again, seconds * 1000);
}

/** The same once more; a tab that nobody sees asks for nothing until it is seen. */
function again() {
  if (document.hidden) document.addEventListener("visibilitychange", () => void show(), { once: true });
  else void show();
}

async function begin() {
  makeRanges();
  at("refresh").value = pick("refresh", "10");
  at("period").addEventListener("change", () => choose("period", at("period").value));
  at("refresh").addEventListener("change", () => choose("refresh", at("refresh").value));
  at("choices").addEventListener("submit", (event) => event.preventDefault());
  // The charts' colours are read from the page's style when they are made.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawnKey = ""; void show(); });
  try {
    const listing = await ask("/api/dashboards");
    showNames(listing);
    if (listing.dashboards.length === 0) notify("There are no dashboards here yet.");
    else await show();
  } catch (error) {
    notify(`These dashboards cannot be listed: ${error.message}`);
  }
}

void begin();
