const STORED = "threadworks.theme";

export type Theme = "light" | "dark";

/** Returns the theme that was chosen in this browser, or else the system's. */
export function readTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  if (stored === "light" || stored === "dark") return stored;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
}

export function toggleTheme(): void {
  const theme = document.documentElement.dataset["theme"] === "dark" ? "light" : "dark";
  localStorage.setItem(STORED, theme);
  applyTheme(theme);
}
