// One chart over time, drawn by uPlot: lines or a stack, alarm lines, marks of moments.
import { clock, day, tick } from "./numbers.js";

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
// An alarm line further up than this many times the highest value would press the lines flat: it is named in
// the legend as above the chart instead.
const FARTHEST = 4;
// The part of the width that an alarm line takes where there are two axes.
const BESIDE = 0.12;
const DAY_SECONDS = 86_400;
// Pixels: half of "22:50:30".
const NARROWEST = 26;

/** What becomes of each alarm line: whether it is inside the chart. Where all is zero, the lowest one is. */
export function placed(thresholds, lines, stacked) {
  return thresholds.map((one) => {
    const lowest = Math.min(...thresholds.filter(({ axis }) => axis === one.axis).map(({ value }) => value));
    const most = highest(lines, one.axis, stacked) || lowest;
    return { ...one, inside: one.value <= most * FARTHEST };
  });
}

function highest(lines, axis, stacked) {
  const own = lines.filter((line) => line.axis === axis);
  if (!stacked) return Math.max(0, ...own.flatMap(({ points }) => points.map(([, value]) => value)));
  const sums = new Map();
  for (const { points } of own) for (const [ms, value] of points) sums.set(ms, (sums.get(ms) ?? 0) + value);
  return Math.max(0, ...sums.values());
}

/**
 * Each period as a level stretch from its start to its end: a figure is about all of its period, and one that
 * stands alone is seen too. `xs` (ms) in order, each line's values at them (null: none), and of which period
 * each x is (its place in `moments`; -1: a break where no line has a value).
 */
function columns(lines, periodMs) {
  const moments = [...new Set(lines.flatMap(({ points }) => points.map(([ms]) => ms)))].sort((a, b) => a - b);
  const known = lines.map(({ points }) => new Map(points));
  const xs = [];
  const periods = [];
  moments.forEach((ms, number) => {
    xs.push(ms, ms + periodMs);
    periods.push(number, number);
    if (number + 1 < moments.length && moments[number + 1] > ms + periodMs) { xs.push(ms + periodMs); periods.push(-1); }
  });
  const values = known.map((points) => periods.map((number) => (number < 0 ? null : points.get(moments[number]) ?? null)));
  return { xs, values, periods, moments };
}

/** Each layer on top of those before it; a layer without a value is as thick as nothing. */
function piled(values) {
  const sums = values[0]?.map(() => 0) ?? [];
  const none = values[0]?.map((_, at) => values.every((row) => row[at] === null)) ?? [];
  return values.map((row) => row.map((value, at) => {
    if (none[at]) return null;
    sums[at] += value ?? 0;
    return sums[at];
  }));
}

function colors(host) {
  const style = getComputedStyle(host);
  return { ink: style.getPropertyValue("--soft").trim(), grid: style.getPropertyValue("--grid").trim() };
}

function series(line, now) {
  return {
    label: line.label,
    scale: line.axis,
    stroke: line.color,
    width: 1.75,
    dash: line.dashed ? [6, 4] : undefined,
    fill: now.stacked ? `${line.color}66` : undefined,
    points: { show: false },
  };
}

function yRange(now, side) {
  const most = highest(now.lines, side, now.stacked);
  const lines = now.thresholds.filter((one) => one.axis === side && one.inside).map(({ value }) => value);
  const least = Math.min(0, ...now.lines.filter(({ axis }) => axis === side).flatMap(({ points }) => points.map(([, value]) => value)));
  const top = Math.max(most, ...lines) * 1.08 || 1;
  return [now.axes[side].min ?? least, Math.max(now.axes[side].max ?? top, (now.axes[side].min ?? least) + 1e-9)];
}

/** An axis as wide as its longest label, and as half a label of the axis below it, which else were cut off. */
function axisSize(plot, labels, number, cycle) {
  const axis = plot.axes[number];
  if (cycle > 1) return axis._size;
  plot.ctx.font = axis.font[0];
  const widest = Math.max(0, ...(labels ?? []).map((label) => plot.ctx.measureText(label ?? "").width));
  return Math.max(NARROWEST, Math.ceil(axis.ticks.size + axis.gap + widest / devicePixelRatio));
}

function yAxis(side, now, { ink, grid }) {
  const figures = now.lines.filter(({ axis }) => axis === side).flatMap(({ points }) => points.map(([, value]) => value));
  const whole = [...figures, ...now.thresholds.filter(({ axis }) => axis === side).map(({ value }) => value)].every(Number.isInteger);
  return {
    scale: side,
    side: side === "left" ? 3 : 1,
    stroke: ink,
    font: FONT,
    gap: 4,
    size: axisSize,
    grid: { show: side === "left", stroke: grid, width: 1 },
    ticks: { show: false, size: 0 },
    space: 26,
    // Of things that are counted there is no half.
    filter: (plot, splits) => splits.map((value) => (whole && !Number.isInteger(value) ? null : value)),
    values: (plot, splits) => splits.map((value) => (value === null ? "" : tick(value))),
  };
}

function xAxis({ ink, grid }) {
  return {
    stroke: ink,
    font: FONT,
    gap: 4,
    size: 24,
    space: 60,
    grid: { stroke: grid, width: 1 },
    ticks: { show: false, size: 0 },
    values: (plot, splits, axis, space, increment) => splits.map((seconds) => {
      if (increment >= DAY_SECONDS) return day(seconds * 1000).slice(5);
      return clock(seconds * 1000).slice(0, increment < 60 ? 8 : 5);
    }),
  };
}

function drawThresholds(plot, now) {
  const { ctx, bbox } = plot;
  ctx.save();
  for (const one of now.thresholds.filter(({ inside }) => inside)) {
    const y = Math.round(plot.valToPos(one.value, one.axis, true));
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    if (one.fill === "above" || one.fill === "below") {
      ctx.globalAlpha = 0.07;
      ctx.fillStyle = one.color;
      const upper = one.fill === "above" ? bbox.top : y;
      ctx.fillRect(bbox.left, upper, bbox.width, one.fill === "above" ? y - bbox.top : bbox.top + bbox.height - y);
      ctx.globalAlpha = 1;
    }
    ctx.strokeStyle = one.color;
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    // With two axes beside its own alone: across the chart it would seem to be about the lines of the other.
    const [begin, end] = "right" in plot.scales ? { left: [0, BESIDE], right: [1 - BESIDE, 1] }[one.axis] : [0, 1];
    ctx.beginPath();
    ctx.moveTo(bbox.left + begin * bbox.width, y);
    ctx.lineTo(bbox.left + end * bbox.width, y);
    ctx.stroke();
  }
  for (const mark of now.marks) {
    const x = Math.round(plot.valToPos(mark.ms / 1000, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = mark.color;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function options(now, host, onCursor) {
  const palette = colors(host);
  const sides = ["left", "right"].filter((side) => side === "left" || now.lines.some(({ axis }) => axis === side));
  return {
    width: Math.max(60, host.clientWidth),
    height: Math.max(60, host.clientHeight),
    legend: { show: false },
    padding: [8, sides.length > 1 ? 8 : 20, 0, 0],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, sync: { key: "dashboard" }, points: { size: 7 } },
    scales: {
      x: { time: true, range: () => [now.start / 1000, now.end / 1000] },
      ...Object.fromEntries(sides.map((side) => [side, { range: () => yRange(now, side) }])),
    },
    axes: [xAxis(palette), ...sides.map((side) => yAxis(side, now, palette))],
    series: [{}, ...now.lines.map((line) => series(line, now))],
    bands: now.stacked ? now.lines.slice(1).map((_, number) => ({ series: [number + 2, number + 1] })) : [],
    hooks: {
      draw: [(plot) => drawThresholds(plot, now)],
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null, now)],
    },
  };
}

/** What uPlot draws, of a drawn widget whose alarm lines were placed. */
function prepared(drawn) {
  const made = columns(drawn.lines, drawn.period * 1000);
  return { ...drawn, ...made, shown: drawn.stacked ? piled(made.values) : made.values };
}

/** A chart in `host`, which has a size of its own. `onCursor(index or null, what is drawn)` follows the mouse. */
export function makeChart(host, onCursor) {
  let plot = null;
  const draw = (drawn) => {
    plot?.destroy();
    const now = prepared(drawn);
    plot = new uPlot(options(now, host, onCursor), [now.xs.map((ms) => ms / 1000), ...now.shown], host);
  };
  const observer = new ResizeObserver(() => {
    if (plot && (plot.width !== host.clientWidth || plot.height !== host.clientHeight)) {
      plot.setSize({ width: Math.max(60, host.clientWidth), height: Math.max(60, host.clientHeight) });
    }
  });
  observer.observe(host);
  return { draw, clear: () => { plot?.destroy(); plot = null; }, destroy: () => { observer.disconnect(); plot?.destroy(); } };
}
