// All GPUs at a glance: a cell each, on one canvas. What it shows stands in the list below it, too.

import { heatColor, token } from "../colors";
import { fill, h } from "../dom";
import { cellAt, cellBeyond, cellOfGpu, layoutOf, lookOf, type Columns, type Layout, type Look, type Mark } from "./cells";
import { gpuKey, groupKey, type Fleet } from "./types";

const kMarks: readonly [Mark, string][] = [
  ["lost", "lost"],
  ["gone", "gone from its host"],
  ["not responding", "does not respond"],
  ["silent", "its host is silent"],
  ["asleep", "asleep"],
  ["unknown", "not known"],
];
const kLegendCell = 16;
const kHeightShare = 0.55; // of the window
const kLeastHeight = 260;
const kRim = 2; // pixels below the last cell, for the frame around it
const kSmall = 11; // pixels; smaller cells have no room for letters

function line(context: CanvasRenderingContext2D, ...points: [number, number][]): void {
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

function letter(context: CanvasRenderingContext2D, text: string, x: number, y: number, wide: number, color: string): void {
  context.fillStyle = color;
  context.font = `600 ${Math.round(wide * 0.75)}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x + wide / 2, y + wide / 2 + 0.5);
}

/** Each differs from all others in its form, however small. */
function drawMark(context: CanvasRenderingContext2D, mark: Mark, x: number, y: number, wide: number): void {
  const isBad = mark === "lost" || mark === "gone" || mark === "not responding";
  const color = token(isBad ? "--bad" : "--dim");
  context.fillStyle = token("--grid");
  context.fillRect(x, y, wide, wide);
  context.strokeStyle = color;
  context.lineWidth = wide >= kSmall ? 2 : 1;
  const edge = context.lineWidth / 2;
  const [left, top, right, bottom] = [x + edge, y + edge, x + wide - edge, y + wide - edge];
  if (isBad) context.strokeRect(left, top, wide - 2 * edge, wide - 2 * edge);
  if (mark === "lost" || mark === "gone") {
    line(context, [left, top], [right, bottom]);
    if (mark === "lost") line(context, [left, bottom], [right, top]);
  } else if (mark === "not responding") {
    if (wide >= kSmall) letter(context, "?", x, y, wide, color);
    else context.clearRect(x + 1.5, y + 1.5, Math.max(0, wide - 3), Math.max(0, wide - 3));
  } else if (mark === "silent") {
    context.lineWidth = 1;
    for (let i = 2; i < wide * 2; i += wide >= kSmall ? 4 : 3) {
      line(context, [x + Math.max(0, i - wide), y + Math.min(i, wide)], [x + Math.min(i, wide), y + Math.max(0, i - wide)]);
    }
  } else if (mark === "asleep") {
    if (wide >= kSmall) letter(context, "z", x, y, wide, color);
    else line(context, [left, top], [right, top], [left, bottom], [right, bottom]);
  } else {
    line(context, [x + wide * 0.25, y + wide / 2], [x + wide * 0.75, y + wide / 2]);
  }
}

export function drawCell(context: CanvasRenderingContext2D, look: Look, x: number, y: number, wide: number): void {
  if (look.mark !== "" || look.share === null) {
    drawMark(context, look.mark === "" ? "unknown" : look.mark, x, y, wide);
  } else {
    context.fillStyle = heatColor(Math.round(look.share * 32) / 32);
    context.fillRect(x, y, wide, wide);
  }
  if (look.isIdle) {
    const thick = Math.max(1, Math.round(wide / 6));
    context.fillStyle = token("--warn");
    context.fillRect(x, y + wide - thick, wide, thick);
  }
  if (look.corner === "") return;
  // Of any colour below it, it is seen by its edge; a problem is the larger one.
  const side = Math.max(look.corner === "problem" ? 3 : 2, wide * (look.corner === "problem" ? 0.6 : 0.4));
  corner(context, x + wide, y, side + (wide >= kSmall ? 2.5 : 1), token("--card"));
  corner(context, x + wide, y, side, token(look.corner === "problem" ? "--bad" : "--warn"));
}

function corner(context: CanvasRenderingContext2D, right: number, top: number, side: number, color: string): void {
  context.fillStyle = color;
  context.beginPath();
  context.moveTo(right - side, top);
  context.lineTo(right, top);
  context.lineTo(right, top + side);
  context.fill();
}

export class FleetMap {
  readonly element: HTMLElement;
  layout: Layout | null = null;
  private readonly canvas = h("canvas", { tabindex: 0, role: "img" });
  private readonly picture = document.createElement("canvas");
  private readonly tip = h("div", { class: "tip", hidden: true, role: "status" });
  private readonly legend = h("div", { class: "map-legend dim" });
  private fleet: Fleet | null = null;
  private looks: Look[] = [];
  private chosen = -1; // a cell
  private chosenGpu: { gpu: string; group: string } | null = null; // what it shows, wherever it is in the next answer
  private width = 0;
  private legendOf = "";

  constructor(
    private readonly columns: Columns,
    private readonly describe: (row: number, group: number) => (Node | string)[],
    private readonly open: (row: number) => void,
  ) {
    this.element = h("section", { class: "fleet-map", "aria-label": "All GPUs" }, h("div", { class: "map-area" }, this.canvas, this.tip), this.legend);
    this.canvas.addEventListener("pointermove", (event) => this.choose(this.cellOf(event)));
    this.canvas.addEventListener("pointerleave", () => this.choose(-1));
    this.canvas.addEventListener("blur", () => this.choose(-1));
    this.canvas.addEventListener("click", (event) => this.press(this.cellOf(event)));
    this.canvas.addEventListener("keydown", (event) => this.move(event));
    new ResizeObserver(() => {
      if (this.canvas.parentElement?.clientWidth !== this.width) this.draw();
    }).observe(this.element);
  }

  show(fleet: Fleet): void {
    this.fleet = fleet;
    this.looks = fleet.gpus.id.map((_, row) => lookOf(fleet, row, this.columns));
    this.draw();
    this.canvas.setAttribute("aria-label", `${fleet.totals.gpus} GPUs of ${fleet.totals.hosts} hosts by their activity; the list below says the same`);
  }

  draw(): void {
    const { fleet } = this;
    if (!fleet) return;
    this.width = Math.max(200, this.canvas.parentElement?.clientWidth ?? 0);
    this.layout = layoutOf(fleet, this.width, Math.max(kLeastHeight, innerHeight * kHeightShare));
    const { size, gap, cells, labels, height } = this.layout;
    for (const canvas of [this.canvas, this.picture]) {
      canvas.width = Math.round(this.width * devicePixelRatio);
      canvas.height = Math.max(1, Math.ceil((height + kRim) * devicePixelRatio));
    }
    this.canvas.style.height = `${Math.max(1, height + kRim)}px`;
    const context = this.picture.getContext("2d");
    if (!context) return;
    context.scale(devicePixelRatio, devicePixelRatio);
    for (const { x, y, row } of cells) {
      const look = this.looks[row];
      if (look) drawCell(context, look, x, y, size - gap);
    }
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = token("--dim");
    for (const { x, y, width, text } of labels) context.fillText(shortened(context, text, width), x, y + 11);
    const { chosenGpu } = this;
    this.chosen = chosenGpu ? cellOfGpu(this.layout, fleet, chosenGpu.gpu, chosenGpu.group) : -1;
    if (this.chosen < 0) this.chosenGpu = null;
    this.put();
    this.showTip();
    this.showLegend();
  }

  /** The picture, and which cell is chosen: moving over them draws no cell. */
  private put(): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.picture, 0, 0);
    context.scale(devicePixelRatio, devicePixelRatio);
    this.drawChosen(context);
  }

  private drawChosen(context: CanvasRenderingContext2D): void {
    const cell = this.layout?.cells[this.chosen];
    if (!cell || !this.layout) return;
    context.strokeStyle = token("--text");
    context.lineWidth = 2;
    context.strokeRect(cell.x - 1, cell.y - 1, this.layout.size - this.layout.gap + 2, this.layout.size - this.layout.gap + 2);
  }

  private cellOf(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    return this.layout ? cellAt(this.layout, event.clientX - box.left, event.clientY - box.top) : -1;
  }

  private press(cell: number): void {
    const row = this.layout?.cells[cell]?.row;
    if (row !== undefined) this.open(row);
  }

  private choose(cell: number): void {
    if (cell === this.chosen) return;
    this.chosen = cell;
    const { fleet } = this;
    const found = this.layout?.cells[cell];
    const group = fleet?.groups[found?.group ?? -1];
    this.chosenGpu = fleet && found && group ? { gpu: gpuKey(fleet, found.row), group: groupKey(group) } : null;
    this.put();
    this.showTip();
  }

  private showTip(): void {
    const found = this.layout?.cells[this.chosen];
    this.canvas.style.cursor = found ? "pointer" : "";
    this.tip.hidden = !found;
    if (!found || !this.layout) return;
    const told = h("div", {}, ...this.describe(found.row, found.group));
    // It is read aloud when it changes.
    if (this.tip.textContent !== told.textContent) fill(this.tip, ...told.childNodes);
    const isRight = found.x > this.width / 2;
    this.tip.style.left = isRight ? "auto" : `${found.x + this.layout.size + 10}px`;
    this.tip.style.right = isRight ? `${this.width - found.x + 10}px` : "";
    this.tip.style.top = `${found.y}px`;
  }

  private move(event: KeyboardEvent): void {
    if (!this.layout?.cells.length) return;
    const last = this.layout.cells.length - 1;
    const steps: Record<string, () => number> = {
      ArrowLeft: () => Math.max(0, this.chosen - 1),
      ArrowRight: () => Math.min(last, this.chosen + 1),
      ArrowUp: () => cellBeyond(this.layout as Layout, this.chosen, false),
      ArrowDown: () => cellBeyond(this.layout as Layout, this.chosen, true),
      Home: () => 0,
      End: () => last,
    };
    const step = steps[event.key];
    if (event.key === "Enter") this.press(this.chosen);
    else if (step) this.choose(step());
    else if (event.key === "Escape") this.choose(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Only what occurs. */
  private showLegend(): void {
    const there = new Set(this.looks.map(({ mark }) => mark));
    const some = (test: (look: Look) => boolean): boolean => this.looks.some(test);
    const shown: [Look, string][] = kMarks.filter(([mark]) => there.has(mark)).map(([mark, words]) => [{ share: null, mark, corner: "", isIdle: false }, words]);
    const middle: Look = { share: 0.5, mark: "", corner: "", isIdle: false };
    if (some(({ corner }) => corner === "problem")) shown.push([{ ...middle, corner: "problem" }, "a problem was found"]);
    if (some(({ corner }) => corner === "note")) shown.push([{ ...middle, corner: "note" }, "a note"]);
    if (some(({ isIdle }) => isIdle)) shown.push([{ ...middle, share: 0, isIdle: true }, "held but idle"]);
    const key = `${shown.map(([, words]) => words).join()} ${document.documentElement.dataset["theme"]}`;
    if (key === this.legendOf) return;
    this.legendOf = key;
    const scale = h("canvas", { width: 96, height: kLegendCell, "aria-hidden": "true" });
    const context = scale.getContext("2d");
    for (let i = 0; context && i < 96; ++i) {
      context.fillStyle = heatColor(i / 95);
      context.fillRect(i, 0, 1, kLegendCell);
    }
    const items = shown.map(([look, words]) => {
      const cell = h("canvas", { width: kLegendCell, height: kLegendCell, "aria-hidden": "true" });
      const paper = cell.getContext("2d");
      if (paper) drawCell(paper, look, 0, 0, kLegendCell);
      return h("span", {}, cell, words);
    });
    fill(this.legend, h("span", {}, "0 %", scale, "100 % truly active (utilization where nobody tells)"), ...items);
  }
}

/** As much of a name as there is room for. */
function shortened(context: CanvasRenderingContext2D, text: string, width: number): string {
  const some = text.slice(0, 200);
  if (context.measureText(some).width <= width) return some;
  let end = some.length;
  while (end > 1 && context.measureText(`${some.slice(0, end)}…`).width > width) end = end > 40 ? Math.floor(end / 2) : end - 1;
  return `${some.slice(0, end)}…`;
}
