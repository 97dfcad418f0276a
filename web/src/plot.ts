// One plot: a line per GPU, or, where these are too many to tell apart, a row of colours for each. All plots of the page
// share one cursor and one span of time.

import uPlot from "uplot";
import { colorOf, dashOf, heatTable, token } from "./colors";
import { bridge, type Curve } from "./curves";
import { add, fill, h } from "./dom";
import { axisLabels, moment, type Zone } from "./time";
import type { Metric } from "./types";
import { byteSteps, formatNumber } from "./units";

export interface Line {
  key: string; // of the curve
  label: string;
  place: number; // which colour
  curve: Curve | undefined;
}

export interface Mark {
  at: number;
  severity: string;
}

export interface Band {
  from: number;
  to: number;
  strength: number; // 0…1
}

export interface Shown {
  times: number[];
  step: number;
  from: number;
  to: number;
  lines: Line[];
  marks: Mark[];
  bands: Band[]; // throttled
  focus: { from: number; to: number } | null; // of the finding that is looked at
  ceiling: number | null; // how much there can be
  bridged: number; // steps without a sample that are no gap
  zone: Zone;
}

/** More lines than these nobody can tell apart. */
export const kMostLines = 24;
/** The room for the numbers, the same in all plots and lanes, so that times lie below each other. */
export const kAxisWidth = 72;
const kHeight = 170;
const kRightRoom = 28; // half of the last time on the axis
const kDescribeMs = 10_000;
const kClickMs = 250;
const kSyncKey = "gpulse";

/** Where the pointer went down last: plots that share a cursor all have the selection of one drag. */
let pressed: Plot | null = null;

export class Plot {
  readonly element: HTMLElement;
  private readonly area = h("div", { class: "plot-area" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private u: uPlot | null = null;
  private shown: Shown | null = null;
  private heatImage: HTMLCanvasElement | null = null;
  private shape = "";
  isVisible = false;
  width = 0; // of the area: asking for it would make the browser lay out the page
  private described = 0;
  private clicked = 0;
  private dragged = 0;

  constructor(
    readonly id: string,
    readonly metric: Metric,
    private readonly zoom: (from: number, to: number) => void,
    private readonly widen: () => void,
    private readonly look: ((at: number) => void) | null = null, // where a click is a moment
  ) {
    const title = h("h3", {}, metric.help);
    const badge = h("abbr", { class: "badge", title: `${metric.meaning} It speaks of: ${metric.window}.` }, metric.label);
    this.area.tabIndex = 0;
    this.area.setAttribute("role", "img");
    this.area.setAttribute("aria-label", metric.help);
    this.area.addEventListener("dblclick", () => {
      clearTimeout(this.clicked);
      this.widen();
    });
    this.area.addEventListener("mousedown", () => (pressed = this));
    this.area.addEventListener("click", () => this.click());
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.element = h("section", { class: "plot", "data-plot": id }, h("header", {}, title, badge), this.area);
    this.area.append(this.tip);
  }

  get canvas(): HTMLCanvasElement | null {
    return this.u?.ctx.canvas ?? null;
  }

  destroy(): void {
    this.u?.destroy();
    this.u = null;
  }

  show(shown: Shown): void {
    this.shown = shown;
    if (!this.isVisible) return;
    if (!this.width) this.width = Math.max(200, this.area.clientWidth);
    const { width } = this;
    const isHeat = this.isHeat;
    const shape = [
      isHeat ? `heat ${shown.lines.length}` : shown.lines.map(({ key, place }) => `${key}:${place}`).join(),
      this.hasRange,
      shown.zone,
      document.documentElement.dataset["theme"],
    ].join("|");
    const data = this.data();
    if (!this.u || shape !== this.shape) {
      this.u?.destroy();
      this.shape = shape;
      this.u = new uPlot(this.options(width), data, this.area);
    } else {
      if (this.u.width !== width) this.u.setSize({ width, height: kHeight });
      this.u.batch(() => {
        this.u?.setData(data, false);
        this.u?.setScale("x", { min: shown.from, max: shown.to });
      });
    }
    // Often enough for a reader, and seldom enough to cost nothing.
    if (performance.now() - this.described < kDescribeMs) return;
    this.described = performance.now();
    this.area.setAttribute("aria-label", this.describe());
  }

  get isHeat(): boolean {
    return (this.shown?.lines.length ?? 0) > kMostLines;
  }

  /** With one line there is room for the least and the greatest of each step. */
  private get hasRange(): boolean {
    const lines = this.shown?.lines ?? [];
    return lines.length === 1 && !!lines[0]?.curve?.min && !!lines[0]?.curve?.max;
  }

  private data(): uPlot.AlignedData {
    const shown = this.shown;
    if (!shown) return [[]];
    const bridged = (values: (number | null)[] | null | undefined): (number | null | undefined)[] =>
      values ? bridge(values, shown.bridged) : shown.times.map(() => null);
    if (this.isHeat) {
      this.paintHeat();
      return [shown.times, shown.times.map(() => null)] as unknown as uPlot.AlignedData;
    }
    const columns: (number | null | undefined)[][] = shown.lines.map(({ curve }) => bridged(curve?.value));
    if (this.hasRange) {
      columns.push(bridged(shown.lines[0]?.curve?.max), bridged(shown.lines[0]?.curve?.min));
    }
    return [shown.times, ...columns] as unknown as uPlot.AlignedData;
  }

  private paintHeat(): void {
    const shown = this.shown;
    if (!shown) return;
    const top = this.greatest();
    const width = Math.max(1, shown.times.length);
    const height = shown.lines.length;
    const canvas = (this.heatImage ??= document.createElement("canvas"));
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d");
    if (!context) return;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    shown.lines.forEach(({ curve }, row) => {
      let last: number | null = null;
      let age = 0;
      for (let i = 0; i < width; ++i) {
        const value: number | null = curve?.value[i] ?? null;
        age = value === null ? age + 1 : 0;
        if (value !== null) last = value;
        if (last === null || age > shown.bridged) continue;
        pixels[row * width + i] = heatTable[Math.min(255, Math.max(0, Math.round((255 * last) / top)))] ?? 0;
      }
    });
    context.putImageData(image, 0, 0);
  }

  private greatest(): number {
    const shown = this.shown;
    if (!shown) return 1;
    if (this.metric.symbol === "%") return 100;
    if (shown.ceiling) return shown.ceiling;
    let most = 0;
    for (const { curve } of shown.lines) for (const value of curve?.value ?? []) if (value !== null && value > most) most = value;
    return most || 1;
  }

  private options(width: number): uPlot.Options {
    const shown = this.shown as Shown;
    const text = token("--dim");
    const grid = { stroke: token("--grid"), width: 1 };
    const font = "11px system-ui, sans-serif";
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    if (this.isHeat) {
      series.push({ show: false });
    } else {
      for (const { place, label } of shown.lines) {
        series.push({ label, stroke: colorOf(place), dash: dashOf(place), width: 1.5, points: { show: false } });
      }
      if (this.hasRange) {
        const color = colorOf(shown.lines[0]?.place ?? 0);
        for (let i = 0; i < 2; ++i) series.push({ stroke: "transparent", points: { show: false } });
        bands.push({ series: [2, 3], fill: `${color}38` });
      }
    }
    const unit = this.metric;
    return {
      width,
      height: kHeight,
      padding: [8, kRightRoom, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: kSyncKey, setSeries: false, scales: ["x", null] },
        drag: { x: true, y: false, setScale: false, dist: 5 },
        points: { show: !this.isHeat, size: 6 },
        bind: { dblclick: () => null },
      },
      scales: {
        x: { time: true, range: () => [this.shown?.from ?? 0, this.shown?.to ?? 1] },
        y: { range: (_u, low, high) => this.range(low, high) },
      },
      ...(shown.zone === "UTC" ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC") } : {}),
      axes: [
        {
          stroke: text,
          grid,
          ticks: grid,
          font,
          space: 70,
          size: 30,
          values: (_u, marks, _axis, _space, step) => axisLabels(marks, step, this.shown?.zone ?? "local"),
        },
        {
          stroke: text,
          grid: this.isHeat ? { show: false } : grid,
          ticks: grid,
          font,
          size: kAxisWidth,
          ...(unit.symbol === "B" && !this.isHeat ? { incrs: byteSteps() } : {}),
          ...(this.isHeat ? { splits: () => this.namedRows().map((row) => shown.lines.length - row - 0.5) } : {}),
          values: (_u, marks) =>
            marks.map((mark) => {
              if (!this.isHeat) return formatNumber(mark, { ...unit, precision: mark % 1 ? 1 : 0 });
              return this.shown?.lines[this.shown.lines.length - 1 - Math.floor(mark)]?.label ?? "";
            }),
        },
      ],
      series,
      bands,
      hooks: {
        drawClear: [(u) => this.drawBelow(u)],
        draw: [(u) => this.drawAbove(u)],
        setCursor: [(u) => this.showTip(u)],
        setSelect: [(u) => this.select(u)],
      },
    };
  }

  /** The first, the last and some between. */
  private namedRows(): number[] {
    const last = (this.shown?.lines.length ?? 1) - 1;
    return [0, 1, 2, 3, 4].map((i) => Math.round((i * last) / 4));
  }

  private range(low: number, high: number): [number, number] {
    if (this.isHeat) return [0, this.shown?.lines.length ?? 1];
    if (this.metric.symbol === "%" && !(high > 100)) return [0, 100];
    if (low === null || high === null || !Number.isFinite(high)) return [0, this.shown?.ceiling ?? 1];
    if (this.shown?.ceiling && high <= this.shown.ceiling) return [0, this.shown.ceiling];
    if (this.metric.symbol === "°C") return [Math.floor((low - 5) / 10) * 10, Math.ceil((high + 3) / 10) * 10];
    return [Math.min(0, low), high > 0 ? high * 1.08 : 1];
  }

  private drawBelow(u: uPlot): void {
    const shown = this.shown;
    if (!shown) return;
    const { ctx } = u;
    const { left, top, width, height } = u.bbox;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    if (this.isHeat && this.heatImage && shown.times.length) {
      const first = shown.times[0] ?? 0;
      const x0 = u.valToPos(first, "x", true);
      const x1 = u.valToPos(first + shown.times.length * shown.step, "x", true);
      ctx.imageSmoothingEnabled = false;
      ctx.drawImage(this.heatImage, x0, top, x1 - x0, height);
    }
    const across = (from: number, to: number): [number, number] => {
      const x = u.valToPos(from, "x", true);
      return [x, Math.max(devicePixelRatio, u.valToPos(to, "x", true) - x)];
    };
    if (!this.isHeat) {
      // Faint behind the lines, and a strip along the foot of the plot, where no line hides it.
      const strip = 4 * devicePixelRatio;
      ctx.fillStyle = token("--throttle");
      for (const { from, to, strength } of shown.bands) {
        const [x, wide] = across(from, to);
        ctx.globalAlpha = 0.03 + 0.07 * strength;
        ctx.fillRect(x, top, wide, height);
        ctx.globalAlpha = 0.3 + 0.7 * strength;
        ctx.fillRect(x, top + height - strip, wide, strip);
      }
    }
    if (shown.focus) {
      const [x, wide] = across(shown.focus.from, shown.focus.to);
      ctx.globalAlpha = 0.18;
      ctx.fillStyle = token("--accent");
      ctx.fillRect(x, top, wide, height);
    }
    ctx.restore();
  }

  private drawAbove(u: uPlot): void {
    const shown = this.shown;
    if (!shown) return;
    const { ctx } = u;
    const { top, height } = u.bbox;
    ctx.save();
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    for (const { at, severity } of shown.marks) {
      if (at < shown.from || at > shown.to) continue;
      const x = u.valToPos(at, "x", true);
      ctx.strokeStyle = ctx.fillStyle = token(severity === "bad" ? "--bad" : severity === "warn" ? "--warn" : "--dim");
      if (severity === "bad") {
        ctx.beginPath();
        ctx.moveTo(x, top);
        ctx.lineTo(x, top + height);
        ctx.stroke();
      }
      const size = (severity === "calm" ? 2 : 4) * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(x - size, top);
      ctx.lineTo(x + size, top);
      ctx.lineTo(x, top + 1.5 * size);
      ctx.fill();
    }
    ctx.restore();
  }

  private select(u: uPlot): void {
    if (u.select.width < 5) return;
    if (pressed !== this) {
      u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      return;
    }
    this.dragged = performance.now();
    const from = u.posToVal(u.select.left, "x");
    const to = u.posToVal(u.select.left + u.select.width, "x");
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.zoom(from, to);
  }

  /** Only where the pointer is: the others show its time as a line. */
  private showTip(u: uPlot): void {
    const shown = this.shown;
    const index = u.cursor.idx;
    const isHere = this.area.matches(":hover, :focus");
    if (!shown || !isHere || index === null || index === undefined || (u.cursor.left ?? -1) < 0) {
      this.tip.hidden = true;
      return;
    }
    const at = shown.times[index] ?? 0;
    const rows = shown.lines
      .map((line) => ({ line, value: nearest(line.curve?.value, index, shown.bridged) }))
      .filter((row): row is { line: Line; value: number } => row.value !== null)
      .sort((a, b) => b.value - a.value);
    const most = 10;
    fill(this.tip, h("b", {}, moment(at, shown.zone)));
    const pointed = this.isHeat ? this.pointedLine(u) : undefined;
    const listed = pointed ? rows.filter(({ line }) => line === pointed) : rows.slice(0, most);
    for (const { line, value } of listed) {
      const swatch = h("i", { class: "swatch" });
      swatch.style.background = colorOf(line.place);
      add(this.tip, h("div", {}, swatch, `${line.label} `, h("span", {}, formatNumber(value, this.metric))));
    }
    if (!rows.length) add(this.tip, h("div", {}, "nothing is known here"));
    if (!pointed && rows.length > most) add(this.tip, h("div", {}, `and ${rows.length - most} more`));
    this.tip.hidden = false;
    const left = (u.cursor.left ?? 0) + kAxisWidth;
    const isRight = left > this.area.clientWidth / 2;
    this.tip.style.left = isRight ? "auto" : `${left + 14}px`;
    this.tip.style.right = isRight ? `${this.area.clientWidth - left + 14}px` : "";
  }

  private pointedLine(u: uPlot): Line | undefined {
    const lines = this.shown?.lines ?? [];
    const share = (u.cursor.top ?? 0) / (u.bbox.height / devicePixelRatio);
    return lines[Math.min(lines.length - 1, Math.max(0, Math.floor(share * lines.length)))];
  }

  /** One that ends a drag is none, and the first of two may become a double-click. */
  private click(): void {
    const { u, look } = this;
    const left = u?.cursor.left ?? -1;
    if (!look || !u || left < 0 || performance.now() - this.dragged < kClickMs) return;
    const at = u.posToVal(left, "x");
    clearTimeout(this.clicked);
    this.clicked = window.setTimeout(() => look(at), kClickMs);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") this.click();
    if (!this.u || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
    event.preventDefault();
    event.stopPropagation();
    const width = this.u.bbox.width / devicePixelRatio;
    const now = (this.u.cursor.left ?? -1) < 0 ? width : (this.u.cursor.left ?? width);
    const to = Math.min(width - 1, Math.max(1, now + (event.key === "ArrowLeft" ? -1 : 1) * (event.shiftKey ? 40 : 8)));
    this.u.setCursor({ left: to, top: 40 });
  }

  private describe(): string {
    const lines = this.shown?.lines ?? [];
    const newest = lines
      .slice(0, 16)
      .map(({ label, curve }) => {
        const value = curve?.value.filter((one): one is number => one !== null).at(-1);
        return `${label} ${value === undefined ? "unknown" : formatNumber(value, this.metric)}`;
      })
      .join(", ");
    return `${this.metric.help}. Newest: ${newest}${lines.length > 16 ? ` and ${lines.length - 16} more` : ""}.`;
  }
}

function nearest(values: (number | null)[] | undefined, index: number, most: number): number | null {
  for (let back = 0; back <= most; ++back) {
    const value = values?.[index - back];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}
