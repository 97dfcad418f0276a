// One value as a person reads it, by its metric's unit and precision.

import type { Metric, Raw } from "./types";

const kBinary = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const kDecimal = ["", "k", "M", "G", "T", "P"];

function scaled(value: number, base: number, names: readonly string[], unit: string): string {
  let power = 0;
  let rest = Math.abs(value);
  while (rest >= base && power + 1 < names.length) {
    rest /= base;
    ++power;
  }
  const digits = power === 0 || rest >= 100 ? 0 : 1;
  return `${value < 0 ? "−" : ""}${rest.toFixed(digits)} ${names[power]}${unit}`.trimEnd();
}

export function formatNumber(value: number, metric: Pick<Metric, "symbol" | "precision" | "kind" | "words">): string {
  if (metric.kind === "state") return metric.words[value] ?? String(value);
  if (metric.kind === "set") return setWords(value, metric.words).join(", ") || "none";
  const symbol = metric.symbol ?? "";
  if (symbol === "B") return scaled(value, 1024, kBinary, "");
  if (symbol === "B/s") return scaled(value, 1000, kDecimal, "B/s");
  if (symbol === "J") return scaled(value, 1000, kDecimal, "J");
  if (symbol === "W" && Math.abs(value) >= 10_000) return scaled(value, 1000, kDecimal, "W");
  const digits = Number.isInteger(value) && metric.precision <= 1 ? 0 : metric.precision;
  const text = Math.abs(value) >= 1e6 ? scaled(value, 1000, kDecimal, "") : value.toFixed(digits);
  return symbol === "" ? text : `${text} ${symbol}`;
}

export function formatRaw(value: Raw | undefined, metric: Metric): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.join(", ") || "none";
  return typeof value === "number" ? formatNumber(value, metric) : value;
}

export const setWords = (bits: number, words: readonly string[]): string[] =>
  words.filter((_, index) => Math.floor(bits / 2 ** index) % 2 === 1);

export const setBits = (given: readonly string[], words: readonly string[]): number =>
  given.reduce((bits, word) => bits + (words.includes(word) ? 2 ** words.indexOf(word) : 0), 0);

/** Marks of an axis of bytes are round in powers of two. */
export function byteSteps(): number[] {
  const steps: number[] = [];
  for (let power = 0; power <= 50; power += 10) {
    for (const times of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]) steps.push(times * 2 ** power);
  }
  return steps;
}
