// Who may not see the page yet is asked for a token or a password.

import { logIn, loginState, logOut } from "./api";
import { fill, h, setText } from "./dom";

const main = document.getElementById("main") as HTMLElement;
const bar = document.getElementById("bar") as HTMLElement;

export async function showLogin(): Promise<void> {
  if (main.querySelector("form")) return;
  const { token, users } = await loginState();
  const said = h("p", { class: "bad", role: "alert" });
  const field = (name: string, label: string, type: string, auto: string): HTMLElement =>
    h("label", {}, label, h("input", { name, type, autocomplete: auto }));
  const form = h("form", { class: "login" },
    h("h1", {}, "Log in to gpulse"),
    users ? field("user", "User", "text", "username") : null,
    users ? field("password", "Password", "password", "current-password") : null,
    users && token ? h("p", { class: "dim" }, "or") : null,
    token ? field("token", "Token", "password", "off") : null,
    h("button", { type: "submit" }, "Log in"),
    said,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]).filter(([, value]) => value !== ""));
    logIn(given).then(
      (wrong) => (wrong ? setText(said, wrong) : location.reload()),
      () => setText(said, "gpulse does not answer."),
    );
  });
  fill(bar);
  fill(main, form);
  form.querySelector("input")?.focus();
}

/** To be seen by whoever has logged in. */
export function logoutButton(): HTMLElement {
  const button = h("button", { type: "button", hidden: true, onclick: () => void logOut().then(() => location.reload()) }, "Log out");
  loginState().then(
    ({ token, users }) => (button.hidden = !(token || users)),
    () => undefined,
  );
  return button;
}
