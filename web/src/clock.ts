// How old a sample is: by the clock of the server, whose newest sample may be hours old when somebody comes.

/** Milliseconds, the same in the page and in its worker; a computer's clock that is set anew does not change them. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

/** What the server's clock showed when its stream began. */
export interface ServerClock {
  seconds: number; // since 1970
  at: number; // in the page's milliseconds
}

/** Null: a recording, or an agent that does not tell. */
export function clockOf(hello: { time: string; age_seconds?: number | null }, at: number): ServerClock | null {
  const age = hello.age_seconds ?? null;
  return age === null ? null : { seconds: Date.parse(hello.time) / 1000 + age, at };
}

/** In seconds; without a clock since it came. */
export function ageOf(clock: ServerClock | null, taken: number, came: number, now: number): number {
  if (!clock) return Math.max(0, (now - came) / 1000);
  return Math.max(0, clock.seconds + (now - clock.at) / 1000 - taken);
}
