import assert from "node:assert/strict";
import { test } from "node:test";
import { bridge, Curves } from "../src/curves";
import { csv } from "../src/export";
import { grouped } from "../src/findings";
import { pack } from "../src/lanes";
import { compare, matches } from "../src/processes";
import { kStart, parseState, writeState } from "../src/state";
import { Table } from "../src/table";
import { axisLabels, duration, moment, zoneName } from "../src/time";
import type { Finding, History, Metric, Sample } from "../src/types";
import { formatNumber, setBits, setWords } from "../src/units";

const at = Date.UTC(2026, 10, 17, 23, 59, 30) / 1000;
const metric = (more: Partial<Metric>): Metric => ({
  key: "speed", scope: "device", kind: "gauge", unit: null, symbol: null, precision: 0, fold: "mean", kept: "range",
  group: "activity", label: "S", help: "Speed", meaning: "", role: null, window: "", warn: null, bad: null, words: [],
  calm: [], grave: [], rank: 0, ...more,
});

test("an axis names the day where it changes", () => {
  assert.deepEqual(axisLabels([at, at + 30, at + 60], 30, "UTC"), ["23:59:30", "18 Nov", "00:00:30"]);
  assert.deepEqual(axisLabels([at, at + 3600], 3600, "UTC"), ["23:59", "00:59"]);
  assert.deepEqual(axisLabels([at, at + 86400], 86400, "UTC"), ["17 Nov", "18 Nov"]);
});

test("times are in the zone that is named", () => {
  assert.equal(moment(at, "UTC"), "17 Nov 23:59:30");
  assert.equal(zoneName("UTC", at), "UTC");
  assert.equal(duration(3725), "1 h 2 min");
  assert.equal(duration(86400), "1 d");
  assert.equal(duration(0), "0 s");
});

test("what is shown is in the address and comes back from it", () => {
  assert.equal(writeState(kStart), "#");
  const state = { ...kStart, view: "gpu" as const, gpu: "0:1", span: { from: at, to: at + 90 }, gpus: ["0", "3"], filter: "a&b=c ü", zone: "UTC" as const };
  assert.deepEqual(parseState(writeState(state)), state);
  assert.match(writeState(state), /from=2026-11-17T23:59:30.000Z&to=2026-11-18T00:01:00.000Z/);
});

test("an address that makes no sense shows the overview", () => {
  assert.deepEqual(parseState("#view=gpu&range=1y&from=x&to=y&sums=<b>"), kStart);
  assert.equal(parseState("#from=2026-11-17T10:00:00Z&to=2026-11-17T09:00:00Z").span, null);
});

test("a step without a sample is no gap, many are", () => {
  assert.deepEqual(bridge([1, null, 2, null, null, null, 3, null], 1), [1, undefined, 2, null, null, null, 3, null]);
  assert.deepEqual(bridge([null, 1], 3), [null, 1]);
});

test("samples go on where the history ends", () => {
  const table = new Table([metric({})], []);
  const history: History = {
    devices: [], words: {}, tier: "", kept: null, start_seconds: 100, step_seconds: 10, count: 2,
    series: [{ metric: "speed", device: "A", value: [5, null] }],
  };
  const curves = Curves.of(history, 10);
  const sample = (value: number | null): Sample => ({
    time: "", hostname: "", origin: null, host: {},
    devices: [{ id: "0", index: 0, uuid: "A", name: "", vendor: "", parent: null, state: "ok", metrics: { speed: value }, unavailable: {} }],
  });
  curves.add(sample(10), 121, table, ["speed"]);
  curves.add(sample(20), 122, table, ["speed"]);
  curves.add(sample(null), 123, table, ["speed"]);
  curves.add(sample(7), 155, table, ["speed"]);
  assert.deepEqual(curves.get("speed", "A")?.value, [5, null, 15, null, null, 7]);
  assert.deepEqual(curves.times, [100, 110, 120, 130, 140, 150]);
});

test("what is too old is left out", () => {
  const table = new Table([metric({ scope: "host" })], []);
  const curves = new Curves(0, 1, 10);
  const sample: Sample = { time: "", hostname: "", origin: null, host: { speed: 1 }, devices: [] };
  for (let second = 0; second < 1000; ++second) curves.add(sample, second, table, ["host.speed"]);
  assert.ok(curves.times.length <= 15);
  assert.equal(curves.times.length, curves.get("host.speed", "")?.value.length);
  assert.equal(curves.end, 1000);
});

test("values have the unit that people read", () => {
  assert.equal(formatNumber(65200455680, metric({ symbol: "B" })), "60.7 GiB");
  assert.equal(formatNumber(96.6e9, metric({ symbol: "B/s" })), "96.6 GB/s");
  assert.equal(formatNumber(80.918, metric({ symbol: "%", precision: 1 })), "80.9 %");
  assert.equal(formatNumber(50263, metric({ symbol: "W" })), "50.3 kW");
  assert.equal(formatNumber(2, metric({ kind: "state", words: ["a", "b", "c"] })), "c");
  assert.equal(formatNumber(0, metric({ kind: "set", words: ["a"] })), "none");
});

test("bits are words, beyond 32 of them too", () => {
  const words = Array.from({ length: 40 }, (_, i) => `w${i}`);
  assert.deepEqual(setWords(setBits(["w0", "w39"], words), words), ["w0", "w39"]);
  assert.equal(setBits(["unknown"], words), 0);
});

test("bars that overlap lie below each other", () => {
  assert.deepEqual(pack([{ from: 0, to: 5 }, { from: 3, to: 8 }, { from: 5, to: 6 }]), [0, 1, 0]);
});

test("a spreadsheet runs nothing of what a file holds", () => {
  const line = { key: "A", label: "", place: 0, curve: { value: [1, null, 3], min: null, max: null } };
  assert.equal(csv([0, 1, 2], [{ name: '=cmd "x"', line }], 0, 2), 'time,"\'=cmd ""x"""\n1970-01-01T00:00:00.000Z,1\n1970-01-01T00:00:02.000Z,3\n');
});

test("rows are found by all words and sorted with the unknown last", () => {
  assert.ok(matches(["ann", "python train.py"], "TRAIN ann"));
  assert.ok(!matches(["ann"], "bob"));
  assert.deepEqual([3, null, 1].sort((a, b) => compare(a, b, true)), [3, 1, null]);
  assert.deepEqual([3, null, 1].sort((a, b) => compare(a, b, false)), [1, 3, null]);
});

test("one card speaks for all GPUs that have the same", () => {
  const finding = (id: string, device: string): Finding => ({ number: 1, id, title: "", severity: "", confidence: 1, devices: [device], pids: [], since: "", cost: null, text: "", evidence: {}, advice: [] });
  assert.deepEqual(grouped([finding("a", "0"), finding("b", "0"), finding("a", "1")]).map(({ id, devices }) => [id, devices]), [["a", ["0", "1"]], ["b", ["0"]]]);
  const told = (device: string, text: string): Finding => ({ ...finding("a", device), text });
  const made = grouped([told("2", "It grows by 4.4 GB/s"), told("0", "It grows by 12 GB/s"), told("1", "It does not answer")]);
  assert.deepEqual(made.map(({ devices, text, figuresOf }) => [devices, text, figuresOf]), [
    [["0", "2"], "It grows by 4.4 GB/s", "2"],
    [["1"], "It does not answer", ""],
  ]);
});

test("plots are chosen by what they are for", () => {
  const table = new Table([metric({ key: "new_one", role: "utilization" }), metric({ key: "x", group: "links", symbol: "B/s", rank: 2 }), metric({ key: "y", group: "links", symbol: "B/s", rank: 1 })], []);
  assert.deepEqual(table.usualPlots(), ["new_one", "y", "x"]);
});
