// What is shown, as it stands in the address: whoever gets the link sees the same.

import { kDefaultRange, kRanges, type Zone } from "./time";

export type View = "overview" | "gpu" | "processes" | "events";
const kViews: readonly string[] = ["overview", "gpu", "processes", "events"];

export interface State {
  view: View;
  gpu: string; // of the view of one
  range: string; // "15m": up to now
  span: { from: number; to: number } | null; // in place of the range: these minutes, in seconds since 1970
  gpus: string[]; // only these; empty: all
  plots: string[]; // empty: those that everybody gets
  sort: string; // a column; "-" before it: the greatest first
  filter: string;
  sums: "" | "user" | "job";
  zone: Zone;
}

export const kStart: State = {
  view: "overview",
  gpu: "",
  range: kDefaultRange,
  span: null,
  gpus: [],
  plots: [],
  sort: "",
  filter: "",
  sums: "",
  zone: "local",
};

const list = (text: string | null): string[] => (text ? text.split(",").filter((part) => part !== "") : []);

export function parseState(hash: string): State {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const view = given.get("view") ?? "";
  const range = given.get("range") ?? "";
  const from = Date.parse(given.get("from") ?? "") / 1000;
  const to = Date.parse(given.get("to") ?? "") / 1000;
  const sums = given.get("sums") ?? "";
  const gpu = given.get("gpu") ?? "";
  const isView = kViews.includes(view) && (view !== "gpu" || gpu !== "");
  return {
    view: isView ? (view as View) : "overview",
    gpu,
    range: kRanges.some(([word]) => word === range) ? range : kDefaultRange,
    span: to > from ? { from, to } : null,
    gpus: list(given.get("gpus")),
    plots: list(given.get("plots")),
    sort: given.get("sort") ?? "",
    filter: given.get("filter") ?? "",
    sums: sums === "user" || sums === "job" ? sums : "",
    zone: given.get("zone") === "UTC" ? "UTC" : "local",
  };
}

export const iso = (seconds: number): string => new Date(Math.round(seconds * 1000)).toISOString();

export function writeState(state: State): string {
  const parts: string[] = [];
  const put = (name: string, value: string, usual = ""): void => {
    // Commas and colons may stand in a fragment, and are easier to read than their escapes.
    const text = encodeURIComponent(value).replace(/%2C/g, ",").replace(/%3A/g, ":");
    if (value !== usual) parts.push(`${name}=${text}`);
  };
  put("view", state.view, kStart.view);
  put("gpu", state.view === "gpu" ? state.gpu : "");
  if (state.span) {
    put("from", iso(state.span.from));
    put("to", iso(state.span.to));
  } else {
    put("range", state.range, kStart.range);
  }
  put("gpus", state.gpus.join(","));
  put("plots", state.plots.join(","));
  put("sort", state.sort);
  put("filter", state.filter);
  put("sums", state.sums);
  put("zone", state.zone, "local");
  return parts.length ? `#${parts.join("&")}` : "#";
}
