import { type ReactNode, useState } from "react";
import { Link, useRoute } from "wouter";
import { useSession } from "../session/session.tsx";
import { Button } from "../ui/button.tsx";
import { Wordmark } from "../ui/wordmark.tsx";
import { CommandPalette } from "./command-palette.tsx";
import styles from "./shell.module.css";
import { toggleTheme } from "./theme.ts";
import { useShortcut } from "./use-shortcut.ts";

/** The frame around every page of a signed-in user. */
export function Shell({ children }: { children: ReactNode }): ReactNode {
  const { signOut } = useSession();
  const [isSearching, setSearching] = useState(false);
  useShortcut("k", () => setSearching(true));
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.bar}>
        <Link href="/agents" className={styles.home} aria-label="Threadworks: agents">
          <Wordmark />
        </Link>
        <nav className={styles.nav} aria-label="Areas">
          <Area href="/agents" pattern="/agents/*?" name="Agents" />
          <Area href="/traces" pattern={/^\/(?:traces|runs|compare)(?:\/.*)?$/} name="Traces" />
          <Area href="/exports" pattern="/exports/*?" name="Exports" />
          <Area
            href="/deployments"
            pattern={/^\/(?:deployments|workspace)(?:\/.*)?$/}
            name="Deployments"
          />
        </nav>
        <div className={styles.actions}>
          <Button kind="quiet" size="s" onClick={() => setSearching(true)}>
            <svg className={`${styles.icon} ${styles.lens}`} viewBox="0 0 16 16" aria-hidden="true">
              <circle cx="7" cy="7" r="4.5" />
              <path d="M10.5 10.5 14 14" />
            </svg>
            <span className={styles.search}>Search</span> <kbd className={styles.key}>Ctrl K</kbd>
          </Button>
          <Button
            kind="quiet"
            size="s"
            onClick={toggleTheme}
            aria-label="Change between dark and light"
          >
            <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
              <circle cx="8" cy="8" r="6" />
              <path d="M8 2a6 6 0 0 1 0 12z" />
            </svg>
          </Button>
          <Button kind="quiet" size="s" className={styles.out ?? ""} onClick={signOut}>
            Sign out
          </Button>
        </div>
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        {children}
      </main>
      <CommandPalette open={isSearching} onOpenChange={setSearching} />
    </div>
  );
}

type AreaProps = { href: string; pattern: string | RegExp; name: string };

function Area({ href, pattern, name }: AreaProps): ReactNode {
  const [isHere] = useRoute(pattern as string);
  return (
    <Link href={href} className={styles.area} aria-current={isHere ? "page" : undefined}>
      {name}
    </Link>
  );
}
