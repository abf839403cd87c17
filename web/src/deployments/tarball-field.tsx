import { type ReactNode, useState } from "react";
import styles from "./tarball-field.module.css";

type Props = { file: File | null; onFile: (file: File) => void };

const KIB = 1024;

/** A drop area for a project's tarball. The area is the file input itself, so a click opens the file chooser. */
export function TarballField({ file, onFile }: Props): ReactNode {
  const [isOver, setOver] = useState(false);
  return (
    <label className={isOver ? `${styles.drop} ${styles.over}` : styles.drop}>
      <input
        className={styles.input}
        type="file"
        aria-label="Tarball of the project"
        accept=".gz,.tgz,application/gzip"
        onDragEnter={() => setOver(true)}
        onDragLeave={() => setOver(false)}
        onDrop={() => setOver(false)}
        onChange={({ target }) => {
          const chosen = target.files?.item(0);
          if (chosen != null) onFile(chosen);
        }}
      />
      {file === null ? (
        <span>
          Drop the project&apos;s tarball here, or press to choose it.{" "}
          <code>npx threadworks build</code> makes one.
        </span>
      ) : (
        <span>
          <strong>{file.name}</strong>, {Math.ceil(file.size / KIB)} KiB
        </span>
      )}
    </label>
  );
}
