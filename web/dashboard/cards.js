// One card a widget: its title, what it shows, and what a reader must know of it.
import { makeChart, placed } from "./chart.js";
import { amount, clock, duration, unitOf } from "./numbers.js";

const SIDES = ["left", "right"];
const ORDER = ["ALARM", "INSUFFICIENT_DATA", "UNKNOWN", "OK"];
// What an alarm's description ends with: where its section of the runbook is. This site shows it, too.
const ADDRESS = /\S*\brunbook(?:\.md)?#([\w-]+)|https:\/\/\S+/;

/** An element with classes and text; what is in `parts` goes inside. */
function make(tag, classes = "", text = "", ...parts) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text) element.textContent = text;
  element.append(...parts);
  return element;
}

/** A card at its place on the grid. `update(drawn)` shows new figures of the same widget. */
export function makeCard(drawn) {
  const title = make("h2");
  const about = make("span", "about");
  const body = make("div", "body");
  const notes = make("ul", "notes");
  const origins = make("details", "origins");
  const head = make("header", "", "", title, about);
  const root = make("section", "card", "", head, body, notes, origins);
  root.dataset.kind = drawn.kind === "metric" ? drawn.view : drawn.kind;
  const { x, y, width, height } = drawn.place;
  root.style.gridColumn = `${x + 1} / span ${width}`;
  root.style.gridRow = `${y + 1} / span ${height}`;
  const content = CONTENTS[root.dataset.kind](body);
  const update = (now) => {
    title.textContent = now.title;
    head.hidden = now.title === "";
    root.setAttribute("aria-label", now.title || "Text");
    about.textContent = now.kind === "metric" ? aboutPeriod(now) : "";
    const told = content.update(now);
    showOrigins(origins, now);
    notes.replaceChildren(...[...(now.notes ?? []), ...told].map((note) => make("li", "", note)));
  };
  return { root, update, destroy: content.destroy ?? (() => {}) };
}

function aboutPeriod(now) {
  if (now.whole) return "over the whole time range";
  return now.view === "lines" ? `each point: ${duration(now.period)}` : `newest ${duration(now.period)} with data`;
}

const last = (line) => line.points.at(-1)?.[1] ?? null;
const written = (line, value) => (value === null ? "no data" : amount(value, line.unit));

/** What is said where there is nothing to draw. */
function emptyText(now) {
  const what = now.lines.length === 0 ? "Nothing of this kind was emitted" : "No data";
  return `${what} from ${clock(now.start)} to ${clock(now.end)} UTC.`;
}

/** Where figures come from that AWS itself would emit, and that were observed here instead: to be unfolded. */
function showOrigins(place, now) {
  const origins = [...new Set((now.lines ?? []).map(({ origin }) => origin).filter(Boolean))];
  place.hidden = origins.length === 0;
  if (origins.length) place.replaceChildren(make("summary", "", "Observed here, not by AWS"), ...origins.map((text) => make("p", "", text)));
}

function lines(body) {
  const units = make("div", "units", "", make("span"), make("span"));
  const host = make("div", "host");
  const empty = make("p", "empty");
  const plot = make("div", "plot", "", host, empty);
  const legend = make("ul", "legend");
  body.append(units, plot, legend);
  host.setAttribute("role", "img");
  let values = [];
  const chart = makeChart(host, (at, now) => {
    const period = at === null ? -1 : now.periods[at];
    values.forEach(({ line, element }, number) => {
      const value = period < 0 ? last(line) : now.values[number][at];
      element.textContent = period >= 0 && value === null ? "–" : written(line, value);
    });
    plot.dataset.at = period < 0 ? "" : `from ${clock(now.moments[period])}`;
  });
  const update = (now) => {
    const some = now.lines.some(({ points }) => points.length > 0);
    SIDES.forEach((side, number) => { units.children[number].textContent = unitText(now, side); });
    const thresholds = placed(now.thresholds, now.lines, now.stacked);
    values = now.lines.map((line) => ({ line, element: make("b", "", written(line, last(line))) }));
    legend.replaceChildren(...entries(values, some), ...thresholds.map((one) => threshold(one, now.lines.some(({ axis }) => axis === "right"))), ...now.marks.map(moment));
    empty.textContent = some ? "" : emptyText(now);
    empty.hidden = some;
    host.setAttribute("aria-label", `${now.title}: ${now.lines.map((line) => `${line.label} ${written(line, last(line))}`).join(", ")}`);
    if (some) chart.draw({ ...now, thresholds });
    else chart.clear();
    return [];
  };
  return { update, destroy: chart.destroy };
}

/** The lines' names and values; of a graph that shows something, those without data together. */
function entries(values, some) {
  const none = some ? values.filter(({ line }) => line.points.length === 0).map(({ line }) => line.label) : [];
  if (none.length < 2) return values.map(({ line, element }) => entry(line, element));
  const shown = values.filter(({ line }) => line.points.length > 0);
  return [...shown.map(({ line, element }) => entry(line, element)), make("li", "none", "", make("span", "", `no data: ${none.join(" · ")}`))];
}

/** What an axis measures: as the dashboard says, else the unit of its lines. */
function unitText(now, side) {
  const own = now.lines.filter(({ axis }) => axis === side);
  return own.length === 0 && side === "right" ? "" : (now.axes[side].label ?? unitOf(own));
}

function swatch(color, classes) {
  const mark = make("i", classes);
  mark.style.setProperty("--color", color);
  return mark;
}

function entry(line, value) {
  const item = make("li", line.points.length ? "" : "none", "", swatch(line.color, line.dashed ? "dashed" : ""), make("span", "", line.label), value);
  if (line.axis === "right") item.append(make("em", "", "right axis"));
  return item;
}

function threshold(one, twoAxes) {
  const item = make("li", "threshold", "", swatch(one.color, "dashed"), make("span", "", one.label), make("b", "", amount(one.value, "")));
  item.dataset.inside = String(one.inside);
  if (twoAxes) item.append(make("em", "", `${one.axis} axis`));
  if (!one.inside) item.append(make("em", "", "above this chart"));
  return item;
}

function moment(mark) {
  return make("li", "moment", "", swatch(mark.color, "dotted"), make("span", "", mark.label), make("b", "", clock(mark.ms)));
}

function numbers(body) {
  const list = make("dl", "numbers");
  body.append(list);
  const update = (now) => {
    list.replaceChildren(...now.lines.map((line) => {
      const value = make("dd", last(line) === null ? "none" : "", written(line, last(line)));
      const unit = unitText(now, line.axis);
      if (last(line) !== null && !value.textContent.endsWith(unit)) value.append(" ", make("small", "", unit));
      const item = make("div", "", "", value, make("dt", "", line.label));
      if (now.sparkline && line.points.length > 2) item.append(spark(line));
      return item;
    }));
    if (now.lines.length === 0) list.append(make("p", "empty", emptyText(now)));
    return [];
  };
  return { update };
}

/** The course of a value as a small line under it, without axes. */
function spark(line) {
  const figures = line.points.map(([, value]) => value);
  const [least, most] = [Math.min(0, ...figures), Math.max(...figures)];
  const points = figures.map((value, at) => `${(at / (figures.length - 1)) * 100},${28 - ((value - least) / (most - least || 1)) * 26}`);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 30");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  path.setAttribute("points", points.join(" "));
  path.style.stroke = line.color;
  svg.append(path);
  return svg;
}

function bars(body) {
  const unit = make("div", "units");
  const list = make("ul", "bars");
  body.append(unit, list);
  const update = (now) => {
    unit.textContent = unitText(now, "left");
    const most = Math.max(0, ...now.lines.map((line) => last(line) ?? 0)) || 1;
    list.replaceChildren(...now.lines.map((line) => {
      const bar = swatch(line.color, "bar");
      bar.style.width = `${(Math.max(0, last(line) ?? 0) / most) * 100}%`;
      return make("li", last(line) === null ? "none" : "", "", make("span", "", line.label), make("div", "", "", bar), make("b", "", written(line, last(line))));
    }));
    if (now.lines.length === 0) list.append(make("li", "empty", emptyText(now)));
    return [];
  };
  return { update };
}

const COLUMNS = [
  ["Newest", (values) => values.at(-1)],
  ["Lowest", (values) => Math.min(...values)],
  ["Highest", (values) => Math.max(...values)],
  ["Average", (values) => values.reduce((sum, value) => sum + value, 0) / values.length],
];

function table(body) {
  const rows = make("tbody");
  const head = make("thead", "", "", make("tr", "", "", make("th"), ...COLUMNS.map(([name]) => make("th", "", name))));
  body.append(make("table", "", "", head, rows));
  const update = (now) => {
    rows.replaceChildren(...now.lines.map((line) => {
      const values = line.points.map(([, value]) => value);
      const cells = COLUMNS.map(([, of]) => make("td", "", values.length ? amount(of(values), line.unit) : "–"));
      return make("tr", "", "", make("th", "", line.label), ...cells);
    }));
    if (now.lines.length === 0) rows.append(make("tr", "", "", make("td", "empty", emptyText(now))));
    return [];
  };
  return { update };
}

function alarms(body) {
  const summary = make("p", "summary");
  const list = make("ul", "alarms");
  body.append(summary, list);
  const update = (now) => {
    const rank = ({ state, muted }) => ORDER.indexOf(state) + (muted ? 0.5 : 0);
    const sorted = [...now.alarms].sort((one, other) => rank(one) - rank(other));
    const counted = ORDER.map((state) => [sorted.find((one) => one.state === state)?.word, sorted.filter((one) => one.state === state).length]);
    const states = counted.filter(([, times]) => times > 0).map(([word, times]) => `${times} ${word.toLowerCase().replace("ok", "OK")}`).join(" · ");
    const listed = now.states.length ? sorted.filter(({ state }) => now.states.includes(state)) : sorted;
    const quiet = now.states.includes("ALARM") && listed.length === 0 && sorted.length > 0;
    summary.textContent = quiet ? `None of ${sorted.length} rings: ${states}.` : states;
    summary.dataset.quiet = String(quiet);
    const prefix = commonPrefix(sorted.map(({ name }) => name));
    list.replaceChildren(...listed.map((one) => alarm(one, prefix)));
    return sorted.length ? [] : ["No alarms are listed here."];
  };
  return { update };
}

/** What all names begin with, up to a `_` or `-`: said once for all, it leaves room for what differs. */
function commonPrefix(names) {
  if (names.length < 2) return "";
  let length = 0;
  while (names.every((name) => length < name.length && name[length] === names[0][length])) length += 1;
  return names[0].slice(0, length).replace(/[^_-]*$/, "");
}

function alarm(one, prefix) {
  const item = make("li", "", "", make("b", "", one.word), make("span", "", one.name.slice(prefix.length)));
  item.dataset.state = one.state;
  if (one.contributors.length) item.append(make("em", "whom", `for ${one.contributors.join(", ")}`));
  if (one.changed !== null) item.append(make("em", "", `${one.state === "ALARM" ? "since" : "rang until"} ${clock(one.changed)} UTC`));
  if (one.muted) item.append(make("em", "", "muted"));
  const address = one.description.match(ADDRESS);
  let last = item;
  // What another alarm mutes follows from that one: it is named, and what it means is in its tooltip.
  if (one.state === "ALARM" && !one.muted) {
    item.className = "told";
    last = make("p", "", "", ...withCode(one.description.replace(ADDRESS, "").replace(/\s*Runbook:?\s*$/, "")), " ");
    item.append(last);
  }
  if (address) {
    const href = address[1] ? `/runbook#${address[1]}` : address[0].replace(/[.,;)]$/, "");
    const link = Object.assign(make("a", "", "runbook"), { href, target: "_blank", rel: "noopener noreferrer" });
    last.append(link);
  }
  item.title = `${one.name}\n${one.description}`;
  return item;
}

/** A text in which `code` stands between backticks. */
function withCode(text) {
  return text.split("`").map((part, at) => (at % 2 ? make("code", "", part) : part));
}

function text(body) {
  // The server made this HTML of Markdown: nothing of it but its own tags, and no script runs on this page
  // that is not one of its files (Content-Security-Policy).
  const update = (now) => { body.innerHTML = now.html; return []; };
  return { update };
}

function fault(body) {
  return { update: (now) => { body.replaceChildren(make("p", "empty", now.fault)); return []; } };
}

const CONTENTS = { lines, numbers, bars, table, alarm: alarms, text, fault };
