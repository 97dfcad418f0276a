// What is shown of a fleet, as it stands in the address.

import { iso } from "../state";
import { kRanges, type Zone } from "../time";

export const kBy = ["host", "cluster", "user", "job", "account", "pod", "model"] as const;
export const kSorts = ["health", "waste", "use", "name"] as const;
export type By = (typeof kBy)[number];
export type Sort = (typeof kSorts)[number];

export interface FleetState {
  by: By;
  sort: Sort;
  filter: string; // as it was typed
  range: string; // of the curves: up to now
  span: { from: number; to: number } | null; // of the curves, in place of the range
  at: number | null; // all but the curves is of this moment; null: now
  open: string[]; // keys of the groups whose GPUs are listed
  zone: Zone;
}

const kUsualRange = "1h";

export const kFleetStart: FleetState = {
  by: "host",
  sort: "health",
  filter: "",
  range: kUsualRange,
  span: null,
  at: null,
  open: [],
  zone: "local",
};

/** How a fleet was looked at in this tab, for the way back from one of its hosts. */
const seenKey = (path: string): string => `gpulse ${path}`;
export const rememberFleet = (): void => sessionStorage.setItem(seenKey(location.pathname), location.hash);
export const fleetAddress = (fleet: string): string => `${fleet}${sessionStorage.getItem(seenKey(new URL(fleet, location.href).pathname)) ?? ""}`;

const oneOf = <T extends string>(all: readonly T[], given: string | null, usual: T): T => all.find((one) => one === given) ?? usual;

/** An address has an end. */
const kMostOpen = 50;

export function parseFleetState(hash: string): FleetState {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const from = Date.parse(given.get("from") ?? "") / 1000;
  const to = Date.parse(given.get("to") ?? "") / 1000;
  const at = Date.parse(given.get("at") ?? "") / 1000;
  return {
    by: oneOf(kBy, given.get("by"), "host"),
    sort: oneOf(kSorts, given.get("sort"), "health"),
    filter: given.get("filter") ?? "",
    range: oneOf(kRanges.map(([word]) => word), given.get("range"), kUsualRange),
    span: to > from ? { from, to } : null,
    at: Number.isFinite(at) ? at : null,
    open: given.getAll("open"),
    zone: given.get("zone") === "UTC" ? "UTC" : "local",
  };
}

export function writeFleetState(state: FleetState): string {
  const parts = new URLSearchParams();
  const put = (name: string, value: string, usual: string): void => {
    if (value !== usual) parts.append(name, value);
  };
  put("by", state.by, "host");
  put("sort", state.sort, "health");
  put("filter", state.filter, "");
  if (state.span) {
    parts.append("from", iso(state.span.from));
    parts.append("to", iso(state.span.to));
  } else {
    put("range", state.range, kUsualRange);
  }
  if (state.at !== null) parts.append("at", iso(state.at));
  for (const key of state.open.slice(0, kMostOpen)) parts.append("open", key);
  put("zone", state.zone, "local");
  // Colons may stand in a fragment, and are easier to read than their escapes.
  return `#${parts.toString().replace(/%3A/g, ":")}`;
}
