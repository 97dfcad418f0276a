// The list below the map as lines of one height: groups, the GPUs of those that are opened, and what is remarked of these.
// Pure: the list puts only those into the page that are seen.

import { groupKey, type Fleet } from "./types";

export type Line =
  | { kind: "group"; group: number; isOpen: boolean }
  | { kind: "gpu"; row: number; depth: number; group: number }
  | { kind: "remark"; text: string };

export function linesOf(fleet: Fleet, open: ReadonlySet<string>): Line[] {
  const lines: Line[] = [];
  const parts = open.size ? instancesOf(fleet) : new Map<number, number[]>();
  const put = (row: number, depth: number, group: number): void => {
    lines.push({ kind: "gpu", row, depth, group });
    for (const text of fleet.gpus.remarks?.[row] ?? []) lines.push({ kind: "remark", text });
    for (const part of parts.get(row) ?? []) put(part, depth + 1, group);
  };
  fleet.groups.forEach((one, group) => {
    const isOpen = open.has(groupKey(one));
    lines.push({ kind: "group", group, isOpen });
    if (isOpen) for (const row of one.gpus) put(row, 0, group);
  });
  return lines;
}

/** The instances of each GPU, by its row. */
function instancesOf({ gpus }: Fleet): Map<number, number[]> {
  const made = new Map<number, number[]>();
  gpus.parent.forEach((parent, row) => {
    if (parent !== null && parent !== row) made.set(parent, [...(made.get(parent) ?? []), row]);
  });
  return made;
}

export interface Window {
  first: number;
  end: number;
}

/** The lines that are seen, and some around them, so that scrolling finds them there. */
export function windowOf(count: number, height: number, top: number, seen: number): Window {
  const around = 10;
  const first = Math.max(0, Math.floor(top / height) - around);
  return { first: Math.min(first, Math.max(0, count - 1)), end: Math.min(count, Math.ceil((top + seen) / height) + around) };
}
