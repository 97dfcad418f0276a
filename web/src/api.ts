// Questions to the agent. All addresses are relative: the page works below any path and on any port.

import type { Sample } from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Over plain HTTP a browser does not say who asks: without this it would be asked for a password by a dialogue. */
const kHeaders = { "X-Gpulse-Page": "1" };

export async function ask<T>(path: string, parameters: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
  const query = new URLSearchParams(parameters).toString();
  const address = `api/v1/${path}${query ? `?${query}` : ""}`;
  const answer = await fetch(address, { headers: kHeaders, ...(signal ? { signal } : {}) });
  const body = (await answer.json()) as T & { error?: { message: string } };
  if (!answer.ok) throw new ApiError(answer.status, body.error?.message ?? answer.statusText);
  return body;
}

export interface Login {
  needed: boolean;
  token: boolean;
  users: boolean;
}

export async function loginState(): Promise<Login> {
  return (await (await fetch("login", { headers: kHeaders })).json()) as Login;
}

/** Empty: it worked. */
export async function logIn(form: Record<string, string>): Promise<string> {
  const body = Object.entries(form)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  const answer = await fetch("login", {
    method: "POST",
    headers: { ...kHeaders, "Content-Type": "application/x-www-form-urlencoded" },
    body,
  });
  if (answer.ok) return "";
  if (answer.status === 401) return "That was not right.";
  const said = (await answer.json().catch(() => ({}))) as { error?: { message: string } };
  return said.error?.message ?? `The agent answered with ${answer.status}.`;
}

export async function logOut(): Promise<void> {
  await fetch("logout", { method: "POST", headers: kHeaders });
}

export const timeOf = (sample: Sample): number => Date.parse(sample.time) / 1000;

export interface Anew<T> {
  body: T | null; // null: it is what it was
  tag: string;
  date: number; // by the server's clock, in seconds since 1970; not a number: it does not say
  asking: number | null; // seconds for which an engine has not answered what comes next
}

/** What an address answers now, unless it is what it was: `tag` is the last answer's. */
export async function askAnew<T>(
  path: string,
  parameters: readonly (readonly [string, string])[],
  tag: string,
  signal: AbortSignal,
): Promise<Anew<T>> {
  const query = new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString();
  const headers = tag ? { ...kHeaders, "If-None-Match": tag } : kHeaders;
  const answer = await fetch(`api/v1/${path}?${query}`, { headers, cache: "no-store", signal });
  const asking = answer.headers.get("X-Gpulse-Asking-Seconds");
  const about = { date: Date.parse(answer.headers.get("Date") ?? "") / 1000, asking: asking === null ? null : Number(asking) };
  if (answer.status === 304) return { body: null, tag, ...about };
  const body = (await answer.json()) as T & { error?: { message: string } };
  if (!answer.ok) throw new ApiError(answer.status, body.error?.message ?? answer.statusText);
  return { body, tag: answer.headers.get("ETag") ?? "", ...about };
}
