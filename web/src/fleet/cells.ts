// Where each GPU's cell is on the map, and how it looks. Pure.

import { gpuKey, groupKey, groupName, type Fleet, type Gpus } from "./types";

/** In place of a colour, so that it does not rest on colour alone. */
export type Mark = "" | "lost" | "gone" | "not responding" | "silent" | "asleep" | "unknown";

export interface Look {
  share: number | null; // 0…1
  mark: Mark;
  corner: "" | "problem" | "note"; // something was found, or the driver told of an error
  isIdle: boolean; // held, without work
}

export interface Columns {
  activity: string;
  use: string;
}

export function markOf(state: string, share: number | null): Mark {
  switch (state) {
    case "ok":
      return share === null ? "unknown" : "";
    case "lost":
    case "gone":
    case "not responding":
    case "silent":
    case "asleep":
      return state;
    default:
      return "unknown";
  }
}

/** The true activity, else the utilization. */
export function shareOf(gpus: Gpus, row: number, { activity, use }: Columns): number | null {
  const percent = gpus.metrics[activity]?.[row] ?? gpus.metrics[use]?.[row] ?? null;
  return percent === null ? null : Math.min(1, Math.max(0, percent / 100));
}

export function lookOf(fleet: Fleet, row: number, columns: Columns): Look {
  const { gpus } = fleet;
  const share = shareOf(gpus, row, columns);
  const found = (gpus.findings[row] ?? []).map((index) => fleet.findings[index]?.severity);
  const isProblem = found.includes("problem") || (gpus.xids[row] ?? []).length > 0;
  return {
    share,
    mark: markOf(gpus.state[row] ?? "", share),
    corner: isProblem ? "problem" : found.includes("note") || found.includes("warning") ? "note" : "",
    isIdle: gpus.idle[row] ?? false,
  };
}

const kRank: readonly string[] = ["lost", "gone", "not responding", "silent"];

/** Of a host in their own order, which people know; of all else the worst first. */
export function orderedCells(fleet: Fleet, rows: readonly number[]): readonly number[] {
  if (fleet.by === "host") return rows;
  const { state, findings, xids, idle } = fleet.gpus;
  const rank = (row: number): number => {
    const place = kRank.indexOf(state[row] ?? "");
    if (place >= 0) return place;
    if ((xids[row]?.length ?? 0) > 0 || (findings[row]?.length ?? 0) > 0) return kRank.length;
    return kRank.length + (idle[row] ? 1 : 2);
  };
  const ranks = new Map(rows.map((row) => [row, rank(row)]));
  return [...rows].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

export interface Cell {
  x: number;
  y: number;
  row: number; // of the GPU
  group: number;
}

export interface Label {
  x: number;
  y: number;
  width: number;
  text: string;
}

export interface Layout {
  size: number; // of a cell, with the gap behind it
  gap: number;
  cells: Cell[];
  labels: Label[];
  height: number;
}

const kLabelled = [28, 24, 20, 17, 14, 12];
const kBare = [14, 12, 10, 9, 8, 7, 6, 5, 4, 3];
const kLabelHeight = 16;
const kLeastLabel = 72; // pixels of a name
const kBesideLeast = 8; // cells side by side, as many as most hosts have

function place(fleet: Fleet, order: readonly (readonly number[])[], width: number, size: number, isLabelled: boolean, isMeasured = false): Layout {
  const gap = size >= 12 ? 2 : size >= 5 ? 1 : 0;
  const between = isLabelled ? 14 : Math.max(3, Math.round(size * 0.7));
  const most = Math.max(1, Math.floor(width / size));
  const made: Layout = { size, gap, cells: [], labels: [], height: 0 };
  let x = 0;
  let y = 0;
  let shelf = 0; // the height of the row of blocks
  order.forEach((rows, group) => {
    const across = Math.min(most, rows.length <= kBesideLeast ? rows.length : Math.max(kBesideLeast, Math.ceil(Math.sqrt(rows.length * 4))));
    const wide = Math.max(across * size, isLabelled ? kLeastLabel : 0);
    const tall = Math.ceil(rows.length / Math.max(1, across)) * size + (isLabelled ? kLabelHeight : 0);
    if (x > 0 && x + wide > width) {
      x = 0;
      y += shelf + (isLabelled ? 8 : between);
      shelf = 0;
    }
    const one = fleet.groups[group];
    if (isLabelled && one && !isMeasured) made.labels.push({ x, y, width: wide, text: groupName(one) });
    const top = y + (isLabelled ? kLabelHeight : 0);
    if (!isMeasured) rows.forEach((row, i) => made.cells.push({ x: x + (i % across) * size, y: top + Math.floor(i / across) * size, row, group }));
    x += wide + between;
    shelf = Math.max(shelf, tall);
  });
  made.height = y + shelf;
  return made;
}

/** As large as the room allows; with the groups' names where these fit. */
export function layoutOf(fleet: Fleet, width: number, height: number): Layout {
  const order = fleet.groups.map(({ gpus }) => orderedCells(fleet, gpus));
  const tries: [number, boolean][] = [...kLabelled.map((size): [number, boolean] => [size, true]), ...kBare.map((size): [number, boolean] => [size, false])];
  const fits = tries.find(([size, isLabelled]) => place(fleet, order, width, size, isLabelled, true).height <= height);
  const [size, isLabelled] = fits ?? [kBare[kBare.length - 1] ?? 1, false];
  return place(fleet, order, width, size, isLabelled);
}

export const cellAt = ({ cells, size }: Layout, x: number, y: number): number =>
  cells.findIndex((cell) => x >= cell.x && x < cell.x + size && y >= cell.y && y < cell.y + size);

/** Where this GPU of this group is now; −1: it is not there any more. Of one that has left its group, where else it is. */
export function cellOfGpu({ cells }: Layout, fleet: Fleet, gpu: string, group: string): number {
  const row = fleet.gpus.uuid.findIndex((_, at) => gpuKey(fleet, at) === gpu);
  const of = (cell: Cell): boolean => groupKey(fleet.groups[cell.group] ?? { kind: "unknown", name: null }) === group;
  const same = cells.findIndex((cell) => cell.row === row && of(cell));
  return same >= 0 ? same : cells.findIndex((cell) => cell.row === row);
}

/** The nearest cell above or below. */
export function cellBeyond({ cells, size }: Layout, from: number, isDown: boolean): number {
  const start = cells[from];
  if (!start) return cells.length ? 0 : -1;
  let best = from;
  let least = Infinity;
  cells.forEach(({ x, y }, i) => {
    const far = (y - start.y) * (isDown ? 1 : -1);
    if (far < size / 2) return;
    const distance = far * 4 + Math.abs(x - start.x);
    if (distance < least) {
      least = distance;
      best = i;
    }
  });
  return best;
}
