// Dark or light: as the system has it, until somebody says otherwise.

const kThemeKey = "gpulse-theme";
const systemTheme = matchMedia("(prefers-color-scheme: light)");

export const theme = (): string => localStorage.getItem(kThemeKey) ?? (systemTheme.matches ? "light" : "dark");

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme();
}

/** From dark to light and back. */
export function changeTheme(): void {
  localStorage.setItem(kThemeKey, theme() === "dark" ? "light" : "dark");
  applyTheme();
}

export function onSystemTheme(changed: () => void): void {
  systemTheme.addEventListener("change", () => {
    applyTheme();
    changed();
  });
}
