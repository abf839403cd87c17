import "@fontsource-variable/geist";
import "@fontsource-variable/geist-mono";
import "./app/tokens.css";
import "./app/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { applyTheme, readTheme } from "./app/theme.ts";
import { takeKeyFromAddress } from "./session/stored-key.ts";

takeKeyFromAddress();
applyTheme(readTheme());
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no place for the app");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
