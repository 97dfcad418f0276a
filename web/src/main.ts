// What is behind this address, a machine, a fleet or a host of one, and its page.

import "uplot/dist/uPlot.min.css";
import "./page.css";
import "./fleet/fleet.css";
import { ApiError, ask } from "./api";
import { fill, h } from "./dom";
import { FleetPage } from "./fleet/page";
import { showLogin } from "./login";
import { MachinePage } from "./machine";
import { Table } from "./table";
import { applyTheme } from "./theme";
import type { About, FindingKind, Metric } from "./types";

const kRetryMs = 3000;

const kMachine: About = { kind: "machine" };

async function start(): Promise<void> {
  applyTheme();
  try {
    const [about, found] = await Promise.all([
      ask<About>("about").catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return kMachine;
        throw error;
      }),
      ask<{ metrics: Metric[]; findings: FindingKind[] }>("metrics-table"),
    ]);
    const table = new Table(found.metrics, found.findings);
    if (about.kind === "fleet") new FleetPage(table, about);
    else new MachinePage(table, about);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      await showLogin();
      return;
    }
    const why = error instanceof ApiError ? error.message : "it does not answer";
    fill(document.getElementById("main") as HTMLElement, h("p", { class: "wait" }, `gpulse cannot be asked: ${why}. Trying again…`));
    setTimeout(() => void start(), kRetryMs);
  }
}

void start();
