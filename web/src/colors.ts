// A colour for each GPU, the same everywhere: Okabe and Ito's, which the colour-blind can tell apart. From the ninth GPU
// on they come again, with another kind of line.

const kDark = ["#4aa8ff", "#e69f00", "#19c48f", "#e58fc3", "#f0e442", "#ff7a3d", "#9fb4ff", "#c9cdd6"];
const kLight = ["#0072b2", "#b87900", "#00805c", "#b3508a", "#7d7400", "#c04a00", "#5a63c4", "#5d6470"];
const kDashes: number[][] = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

export const isDark = (): boolean => document.documentElement.dataset["theme"] === "dark";
export const colorOf = (place: number): string => {
  const palette = isDark() ? kDark : kLight;
  return palette[place % palette.length] ?? "#888888";
};
export const dashOf = (place: number): number[] => kDashes[Math.floor(place / 8) % kDashes.length] ?? [];

/** Cividis, which the colour-blind see as others do: 0 is dark, 1 bright. */
const kHeat = [
  [0, 32, 77],
  [43, 68, 110],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [225, 204, 85],
  [255, 233, 69],
];

export function heat(share: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, share)) * (kHeat.length - 1);
  const low = Math.floor(at);
  const rest = at - low;
  const a = kHeat[low] ?? [0, 0, 0];
  const b = kHeat[Math.min(low + 1, kHeat.length - 1)] ?? a;
  const mix = (i: number): number => Math.round((a[i] ?? 0) * (1 - rest) + (b[i] ?? 0) * rest);
  return [mix(0), mix(1), mix(2)];
}

/** 256 colours, ready to be put into a picture. */
export const heatTable: Uint32Array = (() => {
  const bytes = new Uint8ClampedArray(4 * 256);
  for (let i = 0; i < 256; ++i) bytes.set([...heat(i / 255), 255], 4 * i);
  return new Uint32Array(bytes.buffer);
})();

export const heatColor = (share: number): string => `rgb(${heat(share).join(" ")})`;

const tokens = new Map<string, string>();

/** A colour of the style sheet. Asking for it makes the browser work out all styles, so each is asked for once. */
export function token(name: string): string {
  const key = `${name} ${document.documentElement.dataset["theme"]}`;
  let found = tokens.get(key);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    tokens.set(key, found);
  }
  return found;
}
