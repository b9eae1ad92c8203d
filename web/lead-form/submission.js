// Sending one lead so that it takes effect once: one Idempotency-Key for one content, kept over double clicks,
// retries and reloads of the tab; another content gets another key.

const KEY_PREFIX = "onceward.key.";
// Attempts in all, and the longest pause between two (seconds). Where attempts fail at once that is 8 to 16 s of
// trying, which outlasts a lost connection or a cold start.
const ATTEMPTS = 6;
const LONGEST_PAUSE_S = 8;
// API Gateway gives up on a request after 29 s, so no answer comes later than this.
const ATTEMPT_TIMEOUT_MS = 30_000;
// Slow answers and the pauses that answers ask for come on top; after this long in all the visitor is told to
// press send again, which goes on under the same key. It is as long as anybody watches a page that does nothing.
const PATIENCE_MS = 60_000;
const RETRIED = new Set([409, 429, 500, 502, 503, 504]);

/** A browser may refuse storage (private windows, policies): then a key lasts as long as the page. */
const memory = new Map();
const storage = {
  get(name) {
    try { return sessionStorage.getItem(name) ?? memory.get(name); } catch { return memory.get(name); }
  },
  set(name, value) {
    memory.set(name, value);
    try { sessionStorage.setItem(name, value); } catch { /* kept in memory alone */ }
  },
};

/** The key of this content: made when it is first sent, and found again by the content's hash. */
async function keyOf(apiUrl, body) {
  const bytes = new TextEncoder().encode(`${apiUrl}\n${body}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const name = KEY_PREFIX + Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const key = storage.get(name) ?? crypto.randomUUID();
  storage.set(name, key);
  return key;
}

/**
 * Post a lead, trying again under the same key while the answer is unknown or says to come back.
 * onRetry(attempt, attempts) is called before each further attempt.
 * Returns {outcome: "accepted", id, replayed} (id "" where the answer names none) |
 * {outcome: "refused", status, problem} (problem null where the answer is not a JSON object: a proxy's page) |
 * {outcome: "unreachable"}: no attempt had a final answer.
 */
export async function submit(config, lead, onRetry) {
  const body = JSON.stringify(lead);
  const key = await keyOf(config.apiUrl, body);
  const end = performance.now() + PATIENCE_MS;
  let last = null;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (attempt > 1) {
      const pause = pauseBefore(attempt, last);
      if (performance.now() + pause >= end) break;
      onRetry(attempt, ATTEMPTS);
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
    last = await attemptOnce(config, key, body, Math.min(ATTEMPT_TIMEOUT_MS, end - performance.now()));
    if (last?.status === 201) return { outcome: "accepted", id: idIn(last), replayed: last.replayed };
    if (last && !RETRIED.has(last.status)) return { outcome: "refused", status: last.status, problem: last.body };
  }
  return { outcome: "unreachable" };
}

/**
 * One request of `timeout` ms at most: {status, body, location, replayed, retryAfter}, or null when no whole
 * answer came (the connection broke, before or in the middle of it), so that nobody knows whether it took effect.
 */
async function attemptOnce(config, key, body, timeout) {
  // Not AbortSignal.timeout: browsers have that since 2022 only.
  const abort = new AbortController();
  const timer = setTimeout(() => { abort.abort(); }, timeout);
  try {
    const response = await fetch(`${config.apiUrl.replace(/\/$/, "")}/v1/leads`, {
      method: "POST",
      mode: "cors",
      credentials: "omit",
      headers: { "Content-Type": "application/json", "x-api-key": config.apiKey, "Idempotency-Key": key },
      body,
      signal: abort.signal,
    });
    return {
      status: response.status,
      body: objectIn(await response.text()),
      location: response.headers.get("Location") ?? "",
      replayed: response.headers.get("Idempotent-Replayed") === "true",
      retryAfter: Number(response.headers.get("Retry-After") ?? NaN),
    };
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** The JSON object in an answer's text; null if it is anything else. The status says what happened either way. */
function objectIn(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** The new lead's id, by the answer's body or else its Location, /v1/leads/ID; "" if it names none. */
function idIn({ body, location }) {
  return typeof body?.id === "string" ? body.id : location.slice(location.lastIndexOf("/") + 1);
}

/** Milliseconds to wait: what the answer asks, else twice as long each time; a random part keeps pages apart. */
function pauseBefore(attempt, answer) {
  const backoff = Math.min(LONGEST_PAUSE_S, 0.25 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
  const asked = answer?.retryAfter;
  return (asked >= 0 ? asked : backoff) * 1000;
}
