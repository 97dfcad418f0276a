// Why what is shown is not all, or not new: one line for each, in words.

import { fill, h } from "../dom";
import { capital, ended } from "../sentences";
import { duration, moment } from "../time";
import type { FleetModel } from "./model";
import { timeOfFleet, type Fault, type Fleet, type Host } from "./types";

const kMostHosts = 8;

export type Notice = [tone: "bad" | "warn" | "note", text: string];

export function noticesOf(model: Pick<FleetModel, "fleet" | "isAway" | "why" | "refused" | "asking" | "isPast" | "isStale" | "isOtherMoment" | "isOverdue" | "state">): Notice[] {
  const { fleet, isAway, why, asking, state } = model;
  const made: Notice[] = [];
  const asOf = fleet ? ` What is shown is of ${moment(timeOfFleet(fleet), state.zone)}.` : "";
  if (isAway) made.push(["bad", `gpulse does not answer. Trying again.${asOf}`]);
  if (why) made.push(["bad", `${capital(ended(why))} Trying again.${asOf}`]);
  if (!fleet) return made;
  if (fleet.is_past) made.push(["note", `This is the past: the fleet as it was on ${moment(timeOfFleet(fleet), state.zone)}.`]);
  if (fleet.trouble) made.push(["bad", `${ended(`Nothing newer comes from ${fleet.engine}: ${fleet.trouble}`)}${asOf}`]);
  if (asking !== null) made.push(["warn", `The engine has been asked for ${duration(asking)} and has not answered yet.${asOf}`]);
  if (model.isStale && !isAway && !why && !model.refused && !fleet.trouble && asking === null) {
    const isMoment = model.isOtherMoment;
    made.push(["warn", isMoment ? `Asking for ${model.isPast ? "that moment" : "what is now"}.${asOf}` : model.isOverdue ? `The engine is being asked.${asOf}` : `There is nothing newer.${asOf}`]);
  }
  if (fleet.warning) made.push(["warn", `The engine warns: ${ended(fleet.warning)}`]);
  // An engine that is too slow fails many questions for the same reason.
  const same = new Map<string, Fault[]>();
  for (const fault of fleet.faults) same.set(`${fault.why} ${fault.as_of}`, [...(same.get(`${fault.why} ${fault.as_of}`) ?? []), fault]);
  for (const all of same.values()) {
    const { why: reason = "", as_of = null } = all[0] ?? {};
    const stand = as_of ? ` What is shown of ${all.length > 1 ? "them" : "it"} is of ${moment(Date.parse(as_of) / 1000, state.zone)}.` : "";
    made.push(["warn", `${all.map(({ what }) => what).join(", ")}: ${ended(reason)}${stand}`]);
  }
  const silent = silentHosts(fleet);
  if (silent.length) made.push(["bad", `Silent: ${silent.slice(0, kMostHosts).map((host) => silence(host, model)).join("; ")}${silent.length > kMostHosts ? `; and ${silent.length - kMostHosts} more` : ""}.`]);
  return made;
}

function silentHosts(fleet: Fleet): Host[] {
  return fleet.hosts.filter(({ silent }) => silent).sort((a, b) => (b.silent_seconds ?? 0) - (a.silent_seconds ?? 0));
}

function silence(host: Host, { state }: Pick<FleetModel, "state">): string {
  const last = host.last_sample ? `, since ${moment(Date.parse(host.last_sample) / 1000, state.zone)}` : "";
  const time = host.silent_seconds === null ? ", nobody knows since when" : ` for ${duration(host.silent_seconds)}${last}`;
  return `${host.name.length > 60 ? `${host.name.slice(0, 60)}…` : host.name}${time}`;
}

export class Notices {
  readonly element = h("div", { class: "notices", "aria-live": "polite" });
  private shown = "";

  show(model: FleetModel): void {
    const all = noticesOf(model);
    // That the engine is asked is said until there is something to show.
    const key = JSON.stringify([all, model.fleet === null]);
    if (key === this.shown) return;
    this.shown = key;
    fill(this.element, ...all.map(([tone, text]) => h("p", { class: `line ${tone}` }, text)));
    if (!model.fleet && !all.length) fill(this.element, h("p", { class: "wait" }, "Asking the engine…"));
  }
}
