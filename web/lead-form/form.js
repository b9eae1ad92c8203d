// The page: reads config.json, shows faults where they are, and says what became of the message.
import { ADVICE, faultsOf, readLead } from "./lead.js";
import { submit } from "./submission.js";

const DRAFT = "onceward.draft";
const at = (id) => document.getElementById(id);
const form = at("lead");
// Where the visitor came from: ?source= of the page's address (200 characters at most, as the API asks).
const source = (new URLSearchParams(location.search).get("source") || "lead-form").slice(0, 200);
let sending = false;

/** What was being sent when the page went away is put back, so that sending it again is the same request. */
function restoreDraft() {
  let draft = null;
  try { draft = JSON.parse(sessionStorage.getItem(DRAFT)); } catch { return; }
  if (!draft) return;
  for (const [field, value] of Object.entries(draft)) {
    if (form.elements[field]) form.elements[field].value = value;
  }
  notify("The page was left before your message was confirmed. Send it again: it cannot arrive twice.");
}

function keepDraft() {
  const fields = Object.fromEntries(new FormData(form));
  try { sessionStorage.setItem(DRAFT, JSON.stringify(fields)); } catch { /* no storage: the page works without */ }
}

function dropDraft() {
  try { sessionStorage.removeItem(DRAFT); } catch { /* as above */ }
}

/** Say it at the top of the form. The place is never hidden: screen readers follow only what was there before. */
function notify(text) {
  at("notice").textContent = text;
}

/** Put each fault next to its field, all of them (or the ones without a field) on top, and go there. */
function showFaults(title, faults) {
  at("summary").hidden = title === "";  // shown before it is filled, which is what screen readers announce
  const list = at("summary-list");
  list.replaceChildren();
  for (const input of form.querySelectorAll("input, textarea")) {
    const own = faults.filter(({ field }) => field === input.name).map(({ detail }) => detail);
    at(`${input.name}-error`).textContent = own.join(". ");
    if (own.length) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
  for (const { field, detail } of faults) {
    const item = document.createElement("li");
    if (form.elements[field]) {
      const link = Object.assign(document.createElement("a"), { href: `#${field}`, textContent: detail });
      link.addEventListener("click", (event) => { event.preventDefault(); form.elements[field].focus(); });
      item.append(link);
    } else item.textContent = field ? `${field}: ${detail}` : detail;
    list.append(item);
  }
  at("summary-title").textContent = title;
  if (title) at("summary").focus();
}

function setSending(now) {
  sending = now;
  // aria-disabled, not disabled: the button keeps the keyboard's focus, and a second press is ignored above.
  at("send").setAttribute("aria-disabled", String(now));
  form.setAttribute("aria-busy", String(now));
  at("send-label").textContent = now ? "Sending…" : "Send message";
  if (!now) at("progress").textContent = "";
}

function showDone({ id, replayed }) {
  dropDraft();
  notify("");
  form.hidden = true;
  at("done").hidden = false;
  at("done").dataset.replayed = String(replayed);
  at("lead-id").textContent = id;
  at("reference").hidden = id === "";
  at("done-text").textContent = replayed
    ? "We had already received this message, so it was not recorded a second time."
    : "A person will read it and come back to you.";
  at("done-title").focus();
}

/** The API names fields by JSON pointer ("/email"); "" is the lead as a whole. */
function faultsOfProblem(problem) {
  const errors = Array.isArray(problem?.errors) ? problem.errors : [];
  return errors.filter(({ field }) => typeof field === "string").map(({ field, rule, detail }) => ({
    field: rule === "unreachable" ? "email" : field.replace(/^\//, ""),
    // The API's words for a pattern are the pattern itself.
    detail: rule === "string_pattern_mismatch" ? ADVICE[field.slice(1)] ?? detail : detail,
  }));
}

function showRefusal({ status, problem }) {
  dropDraft();
  const faults = faultsOfProblem(problem);
  if (faults.length) { showFaults("Please check what you entered", faults); return; }
  const reference = problem?.correlationId ? ` Reference: ${problem.correlationId}` : "";
  showFaults(`Your message was not accepted (${status}). Please contact us another way.${reference}`, []);
}

async function send() {
  const lead = readLead(form, source);
  const faults = faultsOf(form, lead);
  showFaults(faults.length ? "Please check what you entered" : "", faults);
  if (faults.length) return;
  setSending(true);
  keepDraft();
  try {
    const config = await configured;
    if (!config) { showFaults("This form is not set up, so nothing was sent. Please contact us another way.", []); return; }
    const result = await submit(config, lead, (attempt, attempts) => {
      at("progress").textContent = `The connection is slow, trying again (${attempt} of ${attempts})`;
    });
    if (result.outcome === "accepted") showDone(result);
    else if (result.outcome === "refused") showRefusal(result);
    else showFaults("We could not reach the server. Press send again: your message cannot arrive twice.", []);
  } finally {
    setSending(false);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!sending) void send();
});
at("again").addEventListener("click", () => {
  form.reset();
  at("done").hidden = true;
  form.hidden = false;
  form.elements.name.focus();
});

/** Read config.json beside the page: {apiUrl, tenantName, apiKey}; null when the page cannot work. */
async function configure() {
  // Hashing and random keys are only there on https pages and on this machine.
  if (!window.isSecureContext) { notify("This form works on https pages only."); return null; }
  try {
    const response = await fetch(new URL("config.json", document.baseURI), { cache: "no-store" });
    if (!response.ok) throw new Error(`config.json: ${response.status}`);
    const config = await response.json();
    at("tenant").textContent = config.tenantName;
    document.title = `Get in touch with ${config.tenantName}`;
    return config;
  } catch {
    notify("This form is not set up: its config.json cannot be read.");
    return null;
  }
}

const configured = configure();
restoreDraft();
