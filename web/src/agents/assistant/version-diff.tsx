import type { AssistantVersion } from "@langchain/langgraph-sdk";
import type { ReactNode } from "react";
import styles from "./version-diff.module.css";

type Props = { before: AssistantVersion; after: AssistantVersion };

/** Shows the differences between two versions, member by member. */
export function VersionDiff({ before, after }: Props): ReactNode {
  const left = membersOf(before);
  const right = membersOf(after);
  const names = [...new Set([...left.keys(), ...right.keys()])].filter(
    (name) => left.get(name) !== right.get(name),
  );
  return (
    <table className={styles.diff}>
      <caption>What differs</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Version {before.version}</th>
          <th scope="col">Version {after.version}, which answers</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{left.get(name) ?? "–"}</td>
            <td>{right.get(name) ?? "–"}</td>
          </tr>
        ))}
        {names.length === 0 ? (
          <tr>
            <td colSpan={3}>There are no differences.</td>
          </tr>
        ) : null}
      </tbody>
    </table>
  );
}

function membersOf({ name, description, context, config, metadata }: AssistantVersion) {
  const members = new Map<string, string>();
  const add = (path: string, value: unknown): void => {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      for (const [key, member] of Object.entries(value)) add(`${path}.${key}`, member);
    } else if (value != null) {
      members.set(path, typeof value === "string" ? value : JSON.stringify(value));
    }
  };
  for (const [key, value] of Object.entries({ name, description, context, config, metadata })) {
    add(key, value);
  }
  return members;
}
