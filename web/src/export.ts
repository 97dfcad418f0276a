// What is shown, as files: CSV of the curves, PNG of the plots.

import { token } from "./colors";
import type { Line, Plot } from "./plot";

export interface Column {
  name: string;
  line: Line;
}

/** One that begins like a formula would be run by a spreadsheet. */
const cell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};

export function csv(times: readonly number[], columns: readonly Column[], from: number, to: number): string {
  const lines = [["time", ...columns.map(({ name }) => cell(name))].join(",")];
  times.forEach((at, i) => {
    if (at < from || at > to) return;
    const values = columns.map(({ line }) => line.curve?.value[i] ?? "");
    if (values.every((value) => value === "")) return;
    lines.push([new Date(at * 1000).toISOString(), ...values].join(","));
  });
  return `${lines.join("\n")}\n`;
}

export async function picture(plots: readonly Plot[], title: string, legend: readonly [string, string][]): Promise<Blob | null> {
  const shown = plots.filter((plot) => plot.canvas);
  const first = shown[0]?.canvas;
  if (!first) return null;
  const columns = shown.length > 3 ? 2 : 1;
  const scale = devicePixelRatio;
  const room = 26 * scale;
  const head = 60 * scale;
  const wide = Math.max(...shown.map((plot) => plot.canvas?.width ?? 0));
  const high = first.height + room;
  const canvas = document.createElement("canvas");
  canvas.width = columns * wide + 24 * scale;
  canvas.height = head + Math.ceil(shown.length / columns) * high;
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.fillStyle = token("--card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = token("--text");
  context.font = `600 ${15 * scale}px system-ui, sans-serif`;
  context.fillText(title, 12 * scale, 24 * scale);
  context.font = `${12 * scale}px system-ui, sans-serif`;
  let x = 12 * scale;
  for (const [name, color] of legend) {
    context.fillStyle = color;
    context.fillRect(x, 36 * scale, 10 * scale, 10 * scale);
    context.fillStyle = token("--dim");
    context.fillText(name, x + 14 * scale, 45 * scale);
    x += 30 * scale + context.measureText(name).width;
    if (x > canvas.width - 80 * scale) break;
  }
  shown.forEach((plot, i) => {
    if (!plot.canvas) return;
    const left = 12 * scale + (i % columns) * wide;
    const top = head + Math.floor(i / columns) * high;
    context.fillStyle = token("--text");
    context.font = `600 ${12 * scale}px system-ui, sans-serif`;
    context.fillText(plot.metric.help, left + 8 * scale, top + 16 * scale);
    context.drawImage(plot.canvas, left, top + room);
  });
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
