import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from "react";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { type ConsoleConfig, readConsoleConfig } from "./console-config.ts";
import { answerOtherTabs, askOtherTabs } from "./other-tabs.ts";
import { SignIn } from "./sign-in.tsx";
import { storedKey, storeKey } from "./stored-key.ts";

export type Session = {
  config: ConsoleConfig;
  apiKey: string;
  signOut: () => void;
};

const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error("There is no session here");
  return session;
}

/** Shows its children to a signed-in user, and the sign-in page to anyone else. */
export function SignedIn({ children }: { children: ReactNode }): ReactNode {
  const [apiKey, setApiKey] = useState(storedKey);
  const config = useQuery({
    queryKey: ["config"],
    queryFn: readConsoleConfig,
    staleTime: Infinity,
  });
  const isLocal = config.data?.agents_need_key === false;
  const asked = useQuery({
    queryKey: ["other-tabs"],
    queryFn: askOtherTabs,
    enabled: isLocal && apiKey === null,
    staleTime: Infinity,
  });
  const key = apiKey ?? asked.data ?? null;
  useEffect(() => {
    if (!isLocal || key === null) return undefined;
    storeKey(key);
    return answerOtherTabs(key);
  }, [isLocal, key]);
  const session = useMemo<Session | null>(() => {
    if (config.data === undefined || key === null) return null;
    const signOut = (): void => {
      storeKey(null);
      location.assign("/console");
    };
    return { config: config.data, apiKey: key, signOut };
  }, [config.data, key]);

  if (config.isError) return <ErrorNotice error={config.error} retry={config.refetch} />;
  if (config.data === undefined || asked.isLoading) return null;
  if (session === null) {
    const signIn = (given: string): void => {
      storeKey(given);
      setApiKey(given);
    };
    return <SignIn config={config.data} onKey={signIn} />;
  }
  return <SessionContext value={session}>{children}</SessionContext>;
}
