// What the API answers, as docs/openapi.json describes it.

import type { Owner } from "./owners";

export type Raw = number | string | string[] | null;

export interface Metric {
  key: string;
  scope: string;
  kind: string;
  unit: string | null;
  symbol: string | null;
  precision: number;
  fold: string;
  kept: string;
  group: string;
  label: string;
  help: string;
  meaning: string;
  role: string | null;
  window: string;
  warn: number | null;
  bad: number | null;
  words: string[];
  calm: string[];
  grave: string[];
  rank: number;
}

export interface FindingKind {
  id: string;
  title: string;
  meaning: string;
  confirm: string;
  fix: string[];
}

export interface Device {
  id: string;
  index: number;
  uuid: string;
  name: string;
  vendor: string;
  parent: string | null;
  state: string;
  state_seconds?: number;
  metrics: Record<string, Raw>;
  unavailable: Record<string, string>;
  info?: Record<string, string | null>;
  pci?: string | null;
  driver?: string | null;
}

export interface Process {
  pid: number;
  device_id?: string; // of those of now
  id?: string; // and of those of a span
  type: string;
  state?: string;
  first?: string;
  last?: string;
  unavailable?: Record<string, string>;
  [key: string]: unknown;
}

export const deviceOf = (process: Process): string => process.device_id ?? process.id ?? "";

/** Who held a GPU from when to when, as an engine tells it; null: before the span, after it. */
export interface Held extends Owner {
  device: string;
  begin: string | null;
  end: string | null;
}

export interface Sample {
  time: string;
  hostname: string;
  origin: string | null;
  host: Record<string, unknown>;
  devices: Device[];
  processes?: Process[];
}

export interface GpuEvent {
  time: string;
  device: string | null;
  kind: string;
  severity?: string;
  text: string;
  [key: string]: unknown;
}

export interface Finding {
  number: number;
  id: string;
  title: string;
  severity: string;
  confidence: number | null; // an engine does not tell
  devices: string[];
  pids: number[];
  since: string | null; // not known
  cost: string | null;
  text: string;
  evidence: Record<string, number>;
  advice: string[];
}

export interface FindingSpan {
  id: string;
  title: string;
  severity?: string;
  devices?: string[];
  device?: string | null;
  begin: string | null; // before the span that was asked for
  end: string | null;
  lasts: boolean;
  text: string;
}

export interface History {
  devices: { id: string; uuid: string; name: string }[];
  words: Record<string, string[]>;
  tier: string;
  kept: { from: string; to: string } | null;
  start_seconds: number;
  step_seconds: number;
  count: number;
  series: {
    metric: string;
    device: string | null;
    value: (number | null)[];
    min?: (number | null)[];
    max?: (number | null)[];
  }[];
}

/** What is behind an address. */
export interface About {
  kind: "machine" | "fleet" | "host";
  version?: string;
  engine?: string;
  interval_seconds?: number;
  host?: { name: string; exporter: string };
  trouble?: string | null; // of a host: why there is no newer sample
  fleet?: string; // where the fleet's page is
}
