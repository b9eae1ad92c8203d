// Sending one lead so that it takes effect once: one Idempotency-Key for one content, kept over double clicks,
// retries and reloads of the tab; another content gets another key.

const KEY_PREFIX = "onceward.key.";
// Attempts in all, and the longest pause between two (seconds): some 12 s of trying, which outlasts a lost
// connection or a cold start, and is as long as a person waits before doing something else.
const ATTEMPTS = 6;
const LONGEST_PAUSE_S = 8;
// An answer may ask for a longer pause, but nobody watches a page for more than this.
const LONGEST_ASKED_S = 30;
// API Gateway gives up on a request after 29 s, so no answer comes later than this.
const ATTEMPT_TIMEOUT_MS = 30_000;
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
 * Returns {outcome: "accepted", id, replayed} | {outcome: "refused", status, problem} |
 * {outcome: "unreachable"}: no attempt had a final answer.
 */
export async function submit(config, lead, onRetry) {
  const body = JSON.stringify(lead);
  const key = await keyOf(config.apiUrl, body);
  let last = null;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (attempt > 1) {
      onRetry(attempt, ATTEMPTS);
      await pause(attempt, last);
    }
    last = await attemptOnce(config, key, body);
    if (last?.status === 201) return { outcome: "accepted", id: last.body.id, replayed: last.replayed };
    if (last && !RETRIED.has(last.status)) return { outcome: "refused", status: last.status, problem: last.body };
  }
  return { outcome: "unreachable" };
}

/**
 * One request: {status, body, replayed, retryAfter}, or null when no whole answer came (the connection broke,
 * before or in the middle of it), so that nobody knows whether it took effect.
 */
async function attemptOnce(config, key, body) {
  try {
    const response = await fetch(`${config.apiUrl.replace(/\/$/, "")}/v1/leads`, {
      method: "POST",
      mode: "cors",
      credentials: "omit",
      headers: { "Content-Type": "application/json", "x-api-key": config.apiKey, "Idempotency-Key": key },
      body,
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    });
    return {
      status: response.status,
      body: await response.json(),
      replayed: response.headers.get("Idempotent-Replayed") === "true",
      retryAfter: Number(response.headers.get("Retry-After") ?? NaN),
    };
  } catch {
    return null;
  }
}

/** Wait as long as the answer asks, else twice as long each time; a random part keeps many pages apart. */
function pause(attempt, answer) {
  const backoff = Math.min(LONGEST_PAUSE_S, 0.25 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
  const asked = answer?.retryAfter;
  const seconds = asked >= 0 ? Math.min(LONGEST_ASKED_S, asked) : backoff;
  return new Promise((resolve) => { setTimeout(resolve, seconds * 1000); });
}
