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
