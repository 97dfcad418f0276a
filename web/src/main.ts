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
import { capital, ended } from "./sentences";
import type { About, FindingKind, Metric } from "./types";

const kRetryMs = 3000;

const kMachine: About = { kind: "machine" };

/** Whether this is the page of a fleet's host: its fleet is two folders above. */
const isBelowFleet = /\/host\/[^/]+\/[^/]*$/.test(location.pathname);

/** Not while nobody looks. */
function again(): void {
  setTimeout(() => {
    if (!document.hidden) void start();
    else document.addEventListener("visibilitychange", () => void start(), { once: true });
  }, kRetryMs);
}

async function start(): Promise<void> {
  applyTheme();
  try {
    const [about, found] = await Promise.all([
      ask<About>("about").catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404 && !isBelowFleet) return kMachine;
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
    const main = document.getElementById("main") as HTMLElement;
    if (error instanceof ApiError && error.status === 404 && isBelowFleet) {
      fill(main, h("p", { class: "wait" }, `${capital(ended(error.message))} `, h("a", { href: "../../" }, "To the fleet")));
      return;
    }
    const why = error instanceof ApiError ? capital(ended(error.message)) : "gpulse does not answer.";
    fill(main, h("p", { class: "wait" }, `${why} Trying again…`));
    again();
  }
}

void start();
