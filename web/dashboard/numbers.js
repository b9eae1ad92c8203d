// How figures and times are written.
const PLAIN = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
// From here on an axis writes 12K for 12,000: its labels stay narrow.
const LONG = 10_000;
const MARKS = { Milliseconds: " ms", Seconds: " s", Percent: " %", Bytes: " B" };
const BYTES = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });

/** A value with its unit, as in a legend: "1,234", "87.5 ms", "1.42 MB". */
export function amount(value, unit) {
  if (unit === "Bytes") return `${BYTES.format(value).replace(/[A-Z]?$/, " $&")}B`;
  const written = Math.abs(value) >= 1000 ? WHOLE.format(value) : PLAIN.format(value);
  return written + (MARKS[unit] ?? "");
}

/** A value beside an axis; the unit stands above it. */
export function tick(value) {
  return Math.abs(value) >= LONG ? SHORT.format(value) : PLAIN.format(value);
}

/** What an axis measures, from the units of its lines ("" when they differ or are unknown). */
export function unitOf(lines) {
  const units = new Set(lines.map(({ unit }) => unit).filter(Boolean));
  return units.size === 1 ? [...units][0] : "";
}

/** A length of time: "10 s", "5 min". */
export function duration(seconds) {
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** The time of day of a moment (ms), UTC, to the second. */
export function clock(ms) {
  return new Date(ms).toISOString().slice(11, 19);
}

/** The day of a moment (ms), UTC. */
export function day(ms) {
  return new Date(ms).toISOString().slice(0, 10);
}
