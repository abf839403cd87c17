import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import styles from "./code-block.module.css";

/** Code with a button to copy it. */
export function CodeBlock({ text }: { text: string }): ReactNode {
  const [copied, setCopied] = useState(false);

  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  }

  return (
    <div className={styles.block}>
      <pre tabIndex={0} aria-label="Code">
        {text}
      </pre>
      <Button kind="quiet" size="s" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}
