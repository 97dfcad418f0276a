// The page of one host: how old what it shows is, and why there is nothing newer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ageOf, clockOf } from "../src/clock";
import { stretchWords } from "../src/findings";
import { holdersOf, Model } from "../src/model";
import { kStart } from "../src/state";
import { statusOf, type Told } from "../src/status";
import { Stream, type Message } from "../src/stream";
import { Table } from "../src/table";

const taken = Date.UTC(2026, 10, 17, 10, 0, 0) / 1000;

test("a sample is as old as the server's clock says", () => {
  const clock = clockOf({ time: "2026-11-17T10:00:00Z", age_seconds: 10_800 }, 5000);
  assert.equal(ageOf(clock, taken, 5000, 5000), 10_800);
  assert.equal(ageOf(clock, taken, 5000, 65_000), 10_860);
  // The next one; a clock that goes ahead is not of the future.
  assert.equal(ageOf(clock, taken + 10_855, 65_000, 65_000), 5);
  assert.equal(ageOf(clock, taken + 20_000, 65_000, 65_000), 0);
  // Of a recording it is when it came.
  assert.equal(clockOf({ time: "2026-11-17T10:00:00Z", age_seconds: null }, 0), null);
  assert.equal(clockOf({ time: "2026-11-17T10:00:00Z" }, 0), null);
  assert.equal(ageOf(null, taken, 5000, 8000), 3);
});

test("a host that has been silent for hours is not live when somebody comes", () => {
  const model = new Model(new Table([], []), kStart, () => undefined, { kind: "host" });
  const take = (message: Message): void => (model as unknown as { take(message: Message): void }).take(message);
  const at = performance.timeOrigin + performance.now();
  const time = "2026-11-17T10:00:00Z";
  take({ kind: "hello", at, data: JSON.stringify({ version: "1", interval_seconds: 15, time, age_seconds: 10_800 }) });
  take({ kind: "sample", at, data: JSON.stringify({ time, hostname: "n1", origin: "FLEET", host: {}, devices: [] }) });
  assert.match(statusOf(model).join(), /^No sample for 3 h,bad$/);
  assert.ok(Math.abs(model.now() - taken - 10_800) < 5);
});

const told: Told = { link: "live", silence: 1, interval: 15, isReached: true, why: "", isGone: false, isOld: false, isOfFleet: true, sample: {} };

test("the status says whether it is live, and else why not", () => {
  assert.deepEqual(statusOf(told), ["live", "good"]);
  // Of a host that is scraped once a minute nothing is late.
  assert.deepEqual(statusOf({ ...told, interval: 60, silence: 100 }), ["live", "good"]);
  assert.deepEqual(statusOf({ ...told, silence: 100 }), ["No sample for 1 min 40 s", "bad"]);
  assert.deepEqual(statusOf({ ...told, silence: 100, why: "n1 is silent" }), ["No sample for 1 min 40 s: n1 is silent", "bad"]);
  const lost: Told = { ...told, link: "lost" };
  assert.deepEqual(statusOf(lost), ["connecting again", ""]);
  assert.deepEqual(statusOf({ ...lost, sample: null, why: "the engine at e has not answered for 3 s" }), ["The engine at e has not answered for 3 s; trying again", "bad"]);
  assert.deepEqual(statusOf({ ...lost, silence: 100, isReached: false }), ["gpulse does not answer, no sample for 1 min 40 s; trying again", "bad"]);
  assert.deepEqual(statusOf({ ...lost, silence: 100, isReached: false, isOfFleet: false }), ["The agent does not answer, no sample for 1 min 40 s; trying again", "bad"]);
  assert.deepEqual(statusOf({ ...told, isGone: true, why: "the engine knows of no such host" }), ["The engine knows of no such host", "bad"]);
});

test("a finding of the past that was there before is told so", () => {
  assert.equal(stretchWords({ begin: null, end: null }, taken, "UTC"), "before 17 Nov 10:00:00 – now");
  assert.equal(stretchWords({ begin: "2026-11-17T10:00:30Z", end: "2026-11-17T10:01:00Z" }, taken, "UTC"), "17 Nov 10:00:30 – 17 Nov 10:01:00");
});

test("who holds a GPU now is who held it to the end", () => {
  const held = (device: string, user: string, end: string | null) => ({ device, user, batch_job: user === "ann" ? "12" : null, batch_account: null, pod: null, begin: null, end });
  const holders = holdersOf([held("A", "ann", null), held("A", "bob", null), held("A", "bob", null), held("B", "ann", "2026-11-17T10:00:00Z")]);
  assert.deepEqual([...holders], [["A", "ann, job 12; bob"]]);
});

test("a stream that nobody wants is closed, and what it had is forgotten", () => {
  const opened: FakeSource[] = [];
  class FakeSource {
    isClosed = false;
    onerror: (() => void) | null = null;
    readonly listeners = new Map<string, (event: { data: string }) => void>();
    constructor(readonly address: string) {
      opened.push(this);
    }
    addEventListener(kind: string, listener: (event: { data: string }) => void): void {
      this.listeners.set(kind, listener);
    }
    close(): void {
      this.isClosed = true;
    }
  }
  Object.assign(globalThis, { EventSource: FakeSource });
  const told: Message[] = [];
  const stream = new Stream((message) => told.push(message));
  stream.want(["a"], "/host/n1/");
  opened[0]?.listeners.get("hello")?.({ data: "{}" });
  assert.deepEqual(stream.greeting().map(({ kind }) => kind), ["hello"]);
  stream.close();
  assert.ok(opened[0]?.isClosed);
  assert.deepEqual(stream.greeting(), []);
  // What still comes of it is not told.
  opened[0]?.listeners.get("sample")?.({ data: "{}" });
  assert.equal(told.length, 1);
  stream.want(["a"], "/host/n1/");
  assert.equal(opened.length, 2);
  assert.equal(opened[1]?.address, "/host/n1/api/v1/stream?metrics=a");
});
