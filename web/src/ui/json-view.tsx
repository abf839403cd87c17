import type { ReactNode } from "react";
import styles from "./json-view.module.css";

/** Maximum length of a text; longer ones are cut, since a page with megabytes of text is of no use. */
const MAX_TEXT = 20_000;
const MAX_MEMBERS = 500;
const OPEN_DEPTH = 2;

/** Shows any JSON value as a collapsible tree. Strings are shown as text, whatever they contain. */
export function JsonView({ value, depth = 0 }: { value: unknown; depth?: number }): ReactNode {
  if (value === null || typeof value !== "object") return <Leaf value={value} />;
  const entries = Object.entries(value);
  if (entries.length === 0) {
    return <span className={styles.empty}>{Array.isArray(value) ? "[]" : "{}"}</span>;
  }
  return (
    <ul className={depth === 0 ? `${styles.tree} ${styles.root}` : styles.tree}>
      {entries.slice(0, MAX_MEMBERS).map(([name, member]) => (
        <li key={name}>
          <Member name={name} value={member} depth={depth} />
        </li>
      ))}
      {entries.length > MAX_MEMBERS ? <li>and {entries.length - MAX_MEMBERS} more</li> : null}
    </ul>
  );
}

function Member({
  name,
  value,
  depth,
}: {
  name: string;
  value: unknown;
  depth: number;
}): ReactNode {
  const isLeaf = value === null || typeof value !== "object" || Object.keys(value).length === 0;
  if (isLeaf) {
    return (
      <div className={styles.member}>
        <span className={styles.name}>{name}</span> <JsonView value={value} depth={depth + 1} />
      </div>
    );
  }
  const size = Object.keys(value).length;
  return (
    <details open={depth < OPEN_DEPTH}>
      <summary>
        <span className={styles.name}>{name}</span>{" "}
        <span className={styles.empty}>{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>
      </summary>
      <JsonView value={value} depth={depth + 1} />
    </details>
  );
}

function Leaf({ value }: { value: unknown }): ReactNode {
  if (typeof value !== "string") return <span className={styles.literal}>{String(value)}</span>;
  const cut = value.length - MAX_TEXT;
  return (
    <span className={styles.text}>
      {cut > 0 ? `${value.slice(0, MAX_TEXT)} … and ${cut} more characters` : value}
    </span>
  );
}
