// The curves of all plots on one axis of equal steps: what the history has, and behind it the samples as they come.

import type { Table } from "./table";
import type { History, Sample } from "./types";
import { setBits } from "./units";

export interface Curve {
  value: (number | null)[];
  min: (number | null)[] | null;
  max: (number | null)[] | null;
}

type Known = number | null | undefined;

/** A plot breaks its line at null and draws on over undefined. A step or two without a sample is no gap: samples do not
 * fall on steps exactly, and may be further apart than these. */
export function bridge(values: readonly (number | null)[], most: number): Known[] {
  const made: Known[] = values.slice();
  let last = -1;
  for (let i = 0; i < made.length; ++i) {
    if (made[i] === null || made[i] === undefined) continue;
    if (last >= 0 && i - last - 1 <= most) for (let j = last + 1; j < i; ++j) made[j] = undefined;
    last = i;
  }
  return made;
}

export class Curves {
  readonly curves = new Map<string, Map<string, Curve>>(); // by metric, then by device ("" for the host)
  times: number[] = [];
  private counted = 0; // samples in the last step

  constructor(
    public start: number,
    readonly step: number,
    private readonly most: number,
  ) {}

  static of(history: History, most: number): Curves {
    const made = new Curves(history.start_seconds, history.step_seconds, most);
    made.times = Array.from({ length: history.count }, (_, i) => made.start + i * made.step);
    for (const { metric, device, value, min, max } of history.series) {
      made.put(metric, device ?? "", { value, min: min ?? null, max: max ?? null });
    }
    // The last steps may have begun only: the samples of the stream fill them.
    made.counted = 1;
    return made;
  }

  get(metric: string, device: string): Curve | undefined {
    return this.curves.get(metric)?.get(device);
  }

  private put(metric: string, device: string, curve: Curve): void {
    let all = this.curves.get(metric);
    if (!all) this.curves.set(metric, (all = new Map()));
    all.set(device, curve);
  }

  get end(): number {
    return this.start + this.times.length * this.step;
  }

  add(sample: Sample, at: number, table: Table, wanted: readonly string[]): void {
    const slot = Math.floor((at - this.start) / this.step);
    if (slot < 0 || slot < this.times.length - 1) return;
    if (slot >= this.times.length) {
      this.extend(slot + 1);
      this.counted = 0;
    }
    ++this.counted;
    for (const id of wanted) {
      const metric = table.get(id);
      if (!metric) continue;
      if (metric.scope === "host") {
        this.fold(id, "", metric.fold, table.hostValue(sample, id));
        continue;
      }
      for (const device of sample.devices) {
        const raw = device.metrics[metric.key];
        const value = Array.isArray(raw) ? setBits(raw, metric.words) : typeof raw === "number" ? raw : null;
        this.fold(id, device.uuid, metric.fold, value);
      }
    }
    this.trim();
  }

  private extend(count: number): void {
    // After a long silence nothing of what was is left on the screen.
    if (count - this.times.length > 4 * this.most) this.restart(this.start + (count - this.most) * this.step);
    while (this.end - this.start < count * this.step) {
      this.times.push(this.end);
      for (const all of this.curves.values()) {
        for (const curve of all.values()) {
          curve.value.push(null);
          curve.min?.push(null);
          curve.max?.push(null);
        }
      }
    }
  }

  private restart(start: number): void {
    this.start = start;
    this.times = [];
    this.curves.clear();
  }

  private fold(id: string, device: string, how: string, value: number | null): void {
    if (value === null) return;
    let curve = this.get(id, device);
    if (!curve) {
      curve = { value: this.times.map(() => null), min: null, max: null };
      this.put(id, device, curve);
    }
    const last = curve.value.length - 1;
    const before = curve.value[last] ?? null;
    curve.value[last] = before === null ? value : foldTwo(before, value, how, this.counted);
    if (curve.min) curve.min[last] = Math.min(curve.min[last] ?? value, value);
    if (curve.max) curve.max[last] = Math.max(curve.max[last] ?? value, value);
  }

  private trim(): void {
    const extra = this.times.length - this.most - 2;
    // Seldom and much: taking one off the front moves all the others.
    if (extra < this.most / 4) return;
    this.start += extra * this.step;
    this.times.splice(0, extra);
    for (const all of this.curves.values()) {
      for (const curve of all.values()) {
        curve.value.splice(0, extra);
        curve.min?.splice(0, extra);
        curve.max?.splice(0, extra);
      }
    }
  }
}

function foldTwo(before: number, value: number, how: string, count: number): number {
  if (how === "maximum") return Math.max(before, value);
  if (how === "any") return Number(BigInt(before) | BigInt(value));
  if (how === "last") return value;
  return before + (value - before) / Math.max(1, count);
}
