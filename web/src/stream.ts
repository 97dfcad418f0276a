// The agent's stream: opened again by itself whenever it breaks. In the shared worker, or in the page where there is no
// such worker.

import { nowMs } from "./clock";

export type Message =
  | { kind: "lost" }
  | { kind: "hello" | "sample" | "event" | "finding" | "finding_ended"; data: string; at: number }; // when it came

const kKinds = ["hello", "sample", "event", "finding", "finding_ended"] as const;
const kRetryMs = 2000;
const kMost = 64;

export class Stream {
  private source: EventSource | null = null;
  private metrics: string[] = [];
  private base = "";
  private hello: Message | null = null;
  private sample: Message | null = null;
  private readonly findings = new Map<number, Message>();

  constructor(private readonly tell: (message: Message) => void) {}

  /** What is asked for only grows: the tabs that are open share one stream. */
  want(metrics: readonly string[], base: string): void {
    const all = [...new Set([...this.metrics, ...metrics])].slice(0, kMost);
    if (this.source && all.length === this.metrics.length) return;
    this.metrics = all;
    this.base = base;
    this.open();
  }

  /** Until somebody wants it again. */
  close(): void {
    this.source?.close();
    this.source = this.hello = this.sample = null;
    this.findings.clear();
  }

  greeting(): Message[] {
    return [this.hello, this.sample, ...this.findings.values()].filter((message): message is Message => message !== null);
  }

  private open(): void {
    this.source?.close();
    this.findings.clear();
    const source = new EventSource(`${this.base}api/v1/stream?metrics=${this.metrics.join(",")}`);
    this.source = source;
    source.onerror = () => {
      if (this.source !== source) return;
      source.close();
      this.tell({ kind: "lost" });
      setTimeout(() => {
        if (this.source === source) this.open();
      }, kRetryMs);
    };
    for (const kind of kKinds) {
      source.addEventListener(kind, (event) => {
        if (this.source === source) this.take({ kind, data: (event as MessageEvent<string>).data, at: nowMs() });
      });
    }
  }

  private take(message: Exclude<Message, { kind: "lost" }>): void {
    if (message.kind === "hello") {
      this.hello = message;
      this.findings.clear();
    }
    if (message.kind === "sample") this.sample = message;
    if (message.kind === "finding") this.findings.set((JSON.parse(message.data) as { number: number }).number, message);
    if (message.kind === "finding_ended") this.findings.delete((JSON.parse(message.data) as { number: number }).number);
    this.tell(message);
  }
}
