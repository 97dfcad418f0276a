// Ranges, time zones and the words on a time axis. Times are seconds since 1970.

export const kRanges: readonly [word: string, seconds: number][] = [
  ["1m", 60],
  ["5m", 300],
  ["15m", 900],
  ["1h", 3600],
  ["3h", 10800],
  ["6h", 21600],
  ["12h", 43200],
  ["24h", 86400],
  ["7d", 604800],
];
export const kDefaultRange = "15m";

export const rangeSeconds = (word: string): number => kRanges.find(([name]) => name === word)?.[1] ?? 900;

export type Zone = "local" | "UTC";

const zoneOption = (zone: Zone): { timeZone?: string } => (zone === "UTC" ? { timeZone: "UTC" } : {});

let zoneHere = "";

/** "Europe/Berlin, UTC+1" */
export function zoneName(zone: Zone, at: number): string {
  if (zone === "UTC") return "UTC";
  const name = (zoneHere ||= Intl.DateTimeFormat().resolvedOptions().timeZone);
  const minutes = -new Date(at * 1000).getTimezoneOffset();
  const sign = minutes < 0 ? "−" : "+";
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  const offset = minutes === 0 ? "UTC" : `UTC${sign}${hours}${rest ? `:${String(rest).padStart(2, "0")}` : ""}`;
  return name === "UTC" ? "UTC" : `${name}, ${offset}`;
}

interface Parts {
  day: string;
  clock: string;
  seconds: string;
}

const formats = new Map<Zone, Intl.DateTimeFormat>();
/** The marks of an axis are the same in all plots, and mostly the same as a second ago. */
const formatted = new Map<string, Parts>();
const kMostFormatted = 200;

export function parts(at: number, zone: Zone): Parts {
  const key = `${zone} ${Math.floor(at)}`;
  let found = formatted.get(key);
  if (!found) {
    if (formatted.size >= kMostFormatted) formatted.clear();
    formatted.set(key, (found = format(at, zone)));
  }
  return found;
}

function format(at: number, zone: Zone): Parts {
  let known = formats.get(zone);
  if (!known) {
    known = new Intl.DateTimeFormat("en-GB", {
      ...zoneOption(zone),
      day: "numeric",
      month: "short",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
    });
    formats.set(zone, known);
  }
  const found: Record<string, string> = {};
  for (const { type, value } of known.formatToParts(new Date(at * 1000))) found[type] = value;
  return {
    day: `${found["day"]} ${found["month"]}`,
    clock: `${found["hour"]}:${found["minute"]}`,
    seconds: found["second"] ?? "00",
  };
}

/** "17 Nov 09:41:07" */
export function moment(at: number, zone: Zone): string {
  const { day, clock, seconds } = parts(at, zone);
  return `${day} ${clock}:${seconds}`;
}

/** What stands at the marks of an axis: the day where it is another than at the mark before. */
export function axisLabels(marks: readonly number[], step: number, zone: Zone): string[] {
  let before = "";
  return marks.map((at, index) => {
    const { day, clock, seconds } = parts(at, zone);
    const isNewDay = index > 0 && day !== before;
    before = day;
    if (step >= 86400) return day;
    if (isNewDay && clock === "00:00") return day;
    return step < 60 ? `${clock}:${seconds}` : clock;
  });
}

/** "3 h 20 min", the two greatest parts. */
export function duration(seconds: number): string {
  const total = Math.max(0, Math.round(seconds));
  const all: [number, string][] = [
    [Math.floor(total / 86400), "d"],
    [Math.floor(total / 3600) % 24, "h"],
    [Math.floor(total / 60) % 60, "min"],
    [total % 60, "s"],
  ];
  const first = all.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return all
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
