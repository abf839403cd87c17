import { Client as NewClient } from "@langchain/langgraph-sdk";
import { Client as FormerClient } from "langgraph-sdk-1.10";
import { Client as NextClient } from "langgraph-sdk-2";
import * as newLangSmith from "langsmith";
import { traceable as newTraceable } from "langsmith/traceable";
import * as formerLangSmith from "langsmith-0.10";
import { traceable as formerTraceable } from "langsmith-0.10/traceable";

type SdkClient = typeof NewClient;

/** All versions are used with the types of one of them; tests do not use what a version lacks. */
export const SDKS: { name: string; Client: SdkClient }[] = [
  { name: "SDK 1.10.2", Client: FormerClient as unknown as SdkClient },
  { name: "SDK 1.15.0", Client: NewClient },
  { name: "SDK 2.0.0", Client: NextClient as unknown as SdkClient },
];

type LangSmith = {
  Client: typeof newLangSmith.Client;
  RunTree: typeof newLangSmith.RunTree;
  traceable: typeof newTraceable;
};

export const LANGSMITHS: ({ name: string } & LangSmith)[] = [
  {
    name: "langsmith 0.10.5",
    ...(formerLangSmith as unknown as LangSmith),
    traceable: formerTraceable as unknown as typeof newTraceable,
  },
  { name: "langsmith 0.12.0", ...newLangSmith, traceable: newTraceable },
];
