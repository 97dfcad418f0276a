import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, cellBeyond, cellOfGpu, layoutOf, lookOf, markOf, orderedCells } from "../src/fleet/cells";
import { parseFilter, toggleFilter } from "../src/fleet/filter";
import { linesOf, windowOf } from "../src/fleet/lines";
import { noticesOf } from "../src/fleet/notices";
import { kFleetStart, parseFleetState, writeFleetState } from "../src/fleet/state";
import { FleetModel } from "../src/fleet/model";
import { isAllTold, wrongs } from "../src/fleet/tiles";
import type { Amounts, Fleet, Group } from "../src/fleet/types";
import { Words } from "../src/fleet/words";
import { Table } from "../src/table";
import type { Metric } from "../src/types";

const totals: Amounts = {
  hosts: 2, silent_hosts: 0, gpus: 4, held: 2, held_known: 3, held_but_idle: 1, lost: 1, not_responding: 0, gone: 0, asleep: 0, silent: 0,
  with_driver_errors: 0, with_problems: 0, with_notes: 0, with_remarks: 0, utilization_percent: 50, true_activity_percent: null, true_activity_known: 0, power_watts: null,
  hottest_celsius: null, wasted_gpus: null,
};

const group = (name: string, gpus: number[]): Group => ({ ...totals, kind: "named", name, users: [], worst: null, severity: 0, gpus, hosts: [0] });

/** Two hosts: the first with a GPU at work, one that is idle and one of two instances; the second with a lost one. */
const fleet: Fleet = {
  time: "2026-11-17T10:00:00.000Z", engine: "engine:9090", interval_seconds: 15, is_past: false, trouble: null,
  warning: null, faults: [], by: "host", sort: "health", totals,
  hosts: [
    { key: "a", name: "a", instance: "a:9837", cluster: null, exporter: "gpulse", last_sample: null, silent: false, silent_seconds: null },
    { key: "b", name: "b", instance: "b:9400", cluster: null, exporter: "dcgm", last_sample: "2026-11-17T09:55:00Z", silent: true, silent_seconds: 300 },
  ],
  models: ["H100"],
  owners: [{ user: "ann", batch_job: "12", batch_account: null, pod: null }],
  findings: [{ id: "p", severity: "problem", title: "A problem" }],
  groups: [group("b", [5]), group("a", [0, 1, 2])],
  gpus: {
    host: [0, 0, 0, 0, 0, 1], id: ["0", "1", "2", "2:0", "2:1", "0"], uuid: ["A", "B", "C", "D", "E", "F"], parent: [null, null, null, 2, 2, null],
    model: [0, 0, 0, 0, 0, null], vendor: [], state: ["ok", "ok", "ok", "ok", "ok", "lost"], held: [true, true, false, null, null, null],
    idle: [false, true, false, false, false, false], owners: [[0], [0], [], [], [], []], findings: [[0], [], [], [], [], []], xids: [[], [], [], [], [], [79]],
    remarks: [["slower than its sisters"], [], [], [], [], []],
    metrics: { active: [80, null, null, null, null, null], use: [90, 0, null, null, null, null] },
  },
};
const columns = { activity: "active", use: "use" };

test("what is shown of a fleet is in the address and comes back from it", () => {
  assert.equal(writeFleetState(kFleetStart), "#");
  const state = { ...kFleetStart, by: "user" as const, sort: "waste" as const, filter: 'user=ann model="H 100"', at: 1_000_000, open: ["=a,b&c", "nobody"], span: { from: 5, to: 90 } };
  assert.deepEqual(parseFleetState(writeFleetState(state)), state);
  assert.deepEqual(parseFleetState("#by=<b>&sort=x&range=1y&at=never&from=2&to=1"), kFleetStart);
});

test("a filter has conditions, and words that stand for whatever contains them", () => {
  assert.deepEqual(parseFilter(' user=ann  model="NVIDIA H100" train '), { asked: ["user=ann", "model=NVIDIA H100", "any=train"], plain: ["train"] });
  assert.deepEqual(parseFilter("user= "), { asked: [], plain: [] });
  assert.deepEqual(parseFilter('host="unfinished na').asked, ["host=unfinished na"]);
});

test("a condition takes the place of those of the same word, and goes when it is asked for again", () => {
  assert.equal(toggleFilter("user=ann state=lost", "state", "not responding"), 'user=ann state="not responding"');
  assert.equal(toggleFilter('state="not responding"', "state", "not responding"), "");
});

test("a cell shows the true activity, else the utilization, else that neither is known", () => {
  assert.deepEqual(lookOf(fleet, 0, columns), { share: 0.8, mark: "", corner: "problem", isIdle: false });
  assert.deepEqual(lookOf(fleet, 1, columns), { share: 0, mark: "", corner: "", isIdle: true });
  assert.equal(lookOf(fleet, 2, columns).mark, "unknown");
  assert.deepEqual(lookOf(fleet, 5, columns), { share: null, mark: "lost", corner: "problem", isIdle: false });
  // A state of another version is no GPU that is well.
  assert.equal(markOf("sulking", 0.5), "unknown");
});

test("cells of a host stay where they are, others come with the worst first", () => {
  assert.deepEqual(orderedCells(fleet, [2, 1, 0, 5]), [2, 1, 0, 5]);
  assert.deepEqual(orderedCells({ ...fleet, by: "user" }, [2, 1, 0, 5]), [5, 0, 1, 2]);
});

test("every cell has a place of its own, from 4 to 8,000", () => {
  const few = layoutOf(fleet, 1000, 400);
  assert.deepEqual(few.labels.map(({ text }) => text), ["b", "a"]);
  assert.deepEqual(few.cells.map(({ row }) => row), [5, 0, 1, 2]);
  assert.equal(cellAt(few, (few.cells[2]?.x ?? 0) + 1, (few.cells[2]?.y ?? 0) + 1), 2);
  assert.equal(cellAt(few, 999, 399), -1);
  const many = { ...fleet, groups: Array.from({ length: 1000 }, (_, host) => group(`n${host}`, Array.from({ length: 8 }, (_, i) => host * 8 + i))) };
  const all = layoutOf(many, 1360, 500);
  assert.equal(all.cells.length, 8000);
  assert.ok(all.height <= 500 && all.size >= 6);
  assert.equal(new Set(all.cells.map(({ x, y }) => `${x} ${y}`)).size, 8000);
  assert.ok(all.cells.every(({ x }) => x >= 0 && x + all.size <= 1360));
});

test("arrows go to the next line of cells, and stay at the last", () => {
  const layout = { size: 10, gap: 1, labels: [], height: 20, cells: [[0, 0], [10, 0], [0, 10], [10, 10]].map(([x = 0, y = 0], row) => ({ x, y, row, group: 0 })) };
  assert.equal(cellBeyond(layout, 1, true), 3);
  assert.equal(cellBeyond(layout, 3, false), 1);
  assert.equal(cellBeyond(layout, 3, true), 3);
});

test("a group that is opened lists its GPUs, with what is remarked, and their instances", () => {
  const shown = linesOf(fleet, new Set(["=a"])).map((line) => (line.kind === "group" ? `group ${line.group}` : line.kind === "gpu" ? `${"+".repeat(line.depth)}${line.row}` : line.text));
  assert.deepEqual(shown, ["group 0", "group 1", "0", "slower than its sisters", "1", "2", "+3", "+4"]);
});

test("only lines that are seen are in the page", () => {
  assert.deepEqual(windowOf(9000, 30, 3000, 600), { first: 90, end: 130 });
  assert.deepEqual(windowOf(3, 30, 0, 600), { first: 0, end: 3 });
  assert.deepEqual(windowOf(3, 30, 90_000, 600), { first: 2, end: 3 });
});

test("what is not known is a dash, and what nobody tells is not nobody", () => {
  const metric = (role: string, key: string): Metric => ({
    key, scope: "device", kind: "gauge", unit: null, symbol: "%", precision: 0, fold: "mean", kept: "", group: "", label: "", help: "", meaning: "",
    role, window: "", warn: null, bad: null, words: [], calm: [], grave: [], rank: 0,
  });
  const words = new Words(new Table([metric("true activity", "active"), metric("utilization", "use")], []));
  words.fleet = fleet;
  assert.deepEqual(words.gpuCells(0), ["A problem", "", "held", "80 %", "90 %", "–", "–", "–", "", "ann, job 12"]);
  assert.deepEqual(words.gpuCells(5), ["lost, XID 79", "", "–", "–", "–", "–", "–", "–", "", "not told"]);
  assert.deepEqual(words.cell(2, 1).find(([name]) => name === "held by"), ["held by", "nobody"]);
  assert.equal(words.held(totals, 4), "2 of 3");
});

test("what is wrong leads to the very GPUs, and what is not known is not nothing", () => {
  const told = (amounts: Partial<Amounts>) => wrongs({ ...totals, ...amounts }).map(([, text, filter]) => `${text}: ${filter.join("=")}`);
  assert.deepEqual(told({}), ["1 lost: state=lost", "1 held but idle: idle=yes"]);
  assert.deepEqual(told({ lost: null, held_but_idle: null, with_driver_errors: 2, with_problems: 1, with_notes: 3, with_remarks: 1 }), [
    "2 with XIDs: xid=*", "1 with problems: severity=problem", "3 with notes: severity=note", "1 unlike its sisters: remark=*",
  ]);
  const whole = { totals, faults: [], hosts: fleet.hosts.slice(0, 1) };
  assert.ok(isAllTold(whole));
  for (const name of ["lost", "gone", "not_responding", "silent_hosts", "silent", "with_driver_errors", "with_problems", "with_notes", "with_remarks", "held_but_idle"] as const) {
    assert.ok(!isAllTold({ ...whole, totals: { ...totals, [name]: null } }), name);
  }
  assert.ok(!isAllTold({ ...whole, faults: [{ what: "findings", why: "too late", as_of: null }] }));
  assert.ok(isAllTold({ ...whole, faults: [{ what: "findings", why: "too late", as_of: fleet.time }] }));
  // Another exporter tells neither of findings nor of who holds a GPU.
  assert.ok(!isAllTold({ ...whole, hosts: fleet.hosts }));
});

test("a cell that is looked at stays the same GPU's when cells change places", () => {
  const before = layoutOf(fleet, 1000, 400);
  const other = { ...fleet, groups: [...fleet.groups].reverse(), gpus: { ...fleet.gpus, uuid: [...fleet.gpus.uuid] } };
  const after = layoutOf(other, 1000, 400);
  assert.equal(cellOfGpu(before, fleet, "b F", "=b"), 0);
  assert.equal(cellOfGpu(after, other, "b F", "=b"), 3);
  // One that two users share is in the groups of both.
  assert.equal(cellOfGpu(after, other, "b F", "=c"), 3);
  assert.equal(cellOfGpu(after, other, "b G", "=b"), -1);
});

/** What the server answers, one after the other; an answer that is none is given up by whoever asked. */
function answering(...answers: ({ body?: unknown; status?: number; headers?: Record<string, string> } | "never")[]): string[] {
  const asked: string[] = [];
  globalThis.fetch = ((address: string, { signal }: { signal: AbortSignal }) => {
    asked.push(address);
    const next = answers.shift() ?? "never";
    if (next === "never") return new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason as Error)));
    return Promise.resolve(new Response(next.status === 304 ? null : JSON.stringify(next.body ?? fleet), { status: next.status ?? 200, headers: next.headers ?? {} }));
  }) as unknown as typeof fetch;
  return asked;
}
const made = (): [FleetModel, string[]] => {
  const told: string[] = [];
  Object.assign(globalThis, { document: { hidden: false }, window: { setTimeout: () => 0 } });
  return [new FleetModel({ ...kFleetStart }, 15, (what) => told.push(what)), told];
};

test("an answer that was made hours before is not new when it comes", async () => {
  const [model] = made();
  answering({ headers: { Date: "Tue, 17 Nov 2026 13:00:00 GMT" } });
  await model.load();
  assert.ok(model.isStale);
  assert.ok(Math.abs(model.now() - Date.parse("2026-11-17T13:00:00Z") / 1000) < 5);
  answering({ headers: { Date: "Tue, 17 Nov 2026 10:00:05 GMT" }, body: { ...fleet, time: "2026-11-17T10:00:03.000Z" } });
  await model.load();
  assert.ok(!model.isStale);
});

test("how long the engine has been asked is told with an answer that is the same", async () => {
  const [model] = made();
  answering({ headers: { ETag: '"1"' } }, { status: 304, headers: { "X-Gpulse-Asking-Seconds": "7" } });
  await model.load();
  assert.equal(model.asking, null);
  await model.load();
  assert.equal(model.asking, 7);
  assert.equal(model.fleet?.engine, "engine:9090");
});

test("a tab that is hidden while it asks has not failed", async () => {
  const [model, told] = made();
  answering("never", "never");
  const both = [model.load(), model.loadCurves()];
  Object.assign(document, { hidden: true });
  await model.load();
  await model.loadCurves();
  await Promise.all(both);
  assert.deepEqual([told, model.isAway, model.why, model.curvesWhy], [[], false, "", ""]);
});

test("curves that the engine has not told yet are asked for again", async () => {
  const [model] = made();
  const later: (() => void)[] = [];
  const { setTimeout } = globalThis;
  Object.assign(globalThis, { setTimeout: (call: () => void) => later.push(call) });
  const asked = answering({ status: 503, body: { error: { message: "the engine at e has not answered for 3 s" } } }, { body: { start_seconds: 0, step_seconds: 15, count: 0, series: [] } });
  await model.loadCurves();
  Object.assign(globalThis, { setTimeout });
  assert.equal(model.curvesWhy, "the engine at e has not answered for 3 s");
  later.forEach((call) => call());
  await new Promise((done) => setTimeout(done, 20));
  assert.equal(asked.length, 2);
  assert.equal(model.curvesWhy, "");
  assert.equal(model.curves?.step_seconds, 15);
});

test("one line says why there is nothing newer, and since when a host is silent", () => {
  const model = { fleet, isAway: false, why: "", refused: "", asking: null, isPast: false, isStale: false, isOtherMoment: false, isOverdue: false, state: { ...kFleetStart, zone: "UTC" as const } };
  assert.deepEqual(noticesOf(model), [["bad", "Silent: b for 5 min, since 17 Nov 09:55:00."]]);
  const told = noticesOf({ ...model, isStale: true, fleet: { ...fleet, trouble: "nobody there", faults: [{ what: "power", why: "too late", as_of: null }] } });
  assert.deepEqual(told.slice(0, 2), [
    ["bad", "Nothing newer comes from engine:9090: nobody there. What is shown is of 17 Nov 10:00:00."],
    ["warn", "power: too late."],
  ]);
  // Who does not answer is said: gpulse, or the engine that it asks.
  const before = " Trying again. What is shown is of 17 Nov 10:00:00.";
  assert.deepEqual(noticesOf({ ...model, isAway: true, isStale: true })[0], ["bad", `gpulse does not answer.${before}`]);
  assert.deepEqual(noticesOf({ ...model, why: "the engine at e has not answered for 3 s", isStale: true })[0], ["bad", `The engine at e has not answered for 3 s.${before}`]);
  assert.equal(noticesOf({ ...model, asking: 7, isStale: true })[0]?.[1], "The engine has been asked for 7 s and has not answered yet. What is shown is of 17 Nov 10:00:00.");
  assert.match(noticesOf({ ...model, isPast: true, fleet: { ...fleet, is_past: true } })[0]?.[1] ?? "", /^This is the past/);
});
