import { type FormEvent, type ReactNode, useState } from "react";
import { request } from "../api/request.ts";
import { Button } from "../ui/button.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Wordmark } from "../ui/wordmark.tsx";
import type { ConsoleConfig } from "./console-config.ts";
import styles from "./sign-in.module.css";

type Props = { config: ConsoleConfig; onKey: (key: string) => void };

export function SignIn({ config, onKey }: Props): ReactNode {
  const [key, setKey] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isChecking, setChecking] = useState(false);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setChecking(true);
    setError(null);
    try {
      await request(`${config.tracing_url ?? ""}/api/v1/sessions?limit=1`, { apiKey: key.trim() });
      onKey(key.trim());
    } catch (problem) {
      setError(problem);
    } finally {
      setChecking(false);
    }
  }

  return (
    <main className={styles.page}>
      <form className={styles.form} onSubmit={(event) => void submit(event)}>
        <Wordmark />
        <h1>Sign in</h1>
        <label className={styles.field}>
          <span>API key</span>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        {error === null ? null : <ErrorNotice error={error} />}
        <Button type="submit" kind="primary" disabled={isChecking || key.trim() === ""}>
          {isChecking ? "Checking the key" : "Sign in"}
        </Button>
        <p className={styles.note}>The key stays in this tab, and is gone when you close it.</p>
        {config.agents_need_key ? null : <LocalHint />}
      </form>
    </main>
  );
}

function LocalHint(): ReactNode {
  return (
    <div className={styles.hint}>
      <p>
        This server runs on your machine. The link that <code>npm start</code> prints opens signed
        in. Its key is also here:
      </p>
      <CodeBlock text="grep LOCAL_API_KEY .dev.vars" />
    </div>
  );
}
