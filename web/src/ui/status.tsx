import type { ReactNode } from "react";
import styles from "./status.module.css";

const TONES: Record<string, string> = {
  success: "good",
  idle: "plain",
  error: "bad",
  timeout: "bad",
  completed: "good",
  failed: "bad",
  timedout: "bad",
  created: "wait",
  pending: "wait",
  busy: "busy",
  running: "busy",
  interrupted: "wait",
  ready: "good",
  deployed: "good",
  serves: "good",
  "serves nothing": "wait",
  creating: "busy",
  queued: "wait",
  building: "busy",
  deploying: "busy",
  "awaiting build": "busy",
  "awaiting deploy": "busy",
  "awaiting delete": "wait",
  "create failed": "bad",
  "build failed": "bad",
  "deploy failed": "bad",
};

/** Shows the status of a run or a thread as a colour and a word. */
export function Status({ status }: { status: string }): ReactNode {
  return (
    <span className={[styles.status, styles[TONES[status] ?? "plain"]].join(" ")}>{status}</span>
  );
}
