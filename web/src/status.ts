// The words beside the host's name: whether what is shown is new, and else why not. Pure.

import type { Model } from "./model";
import { duration } from "./time";
import { capital } from "./sentences";

export type Tone = "" | "good" | "bad";

const kLeastSilence = 5; // seconds

export type Told = Pick<Model, "link" | "silence" | "interval" | "isReached" | "why" | "isGone" | "isOld" | "isOfFleet"> & { sample: unknown };

export function statusOf({ link, silence, interval, isReached, why, isGone, isOld, isOfFleet, sample }: Told): [word: string, tone: Tone] {
  const isSilent = sample !== null && silence > Math.max(kLeastSilence, 4 * interval);
  const time = sample === null ? "" : ` for ${duration(silence)}`;
  const because = why ? `: ${why}` : "";
  if (isGone) return [capital(why), "bad"];
  if (link === "connecting") return ["connecting", ""];
  if (link === "lost") {
    if (sample !== null && !isSilent) return ["connecting again", ""];
    if (isReached === false) return [`${isOfFleet ? "gpulse" : "The agent"} does not answer${sample === null ? "" : `, no sample${time}`}; trying again`, "bad"];
    if (sample !== null) return [`No sample${time}${because}; trying again`, "bad"];
    return why ? [`${capital(why)}; trying again`, "bad"] : ["connecting", ""];
  }
  if (isSilent) return [`No sample${time}${because}`, "bad"];
  return isOld ? ["The agent was updated: load the page again", ""] : ["live", "good"];
}
