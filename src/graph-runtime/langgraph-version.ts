import { version } from "@langchain/langgraph/package.json";

/** The version of the LangGraph in this bundle: the project's own copy when it has one. */
export const LANGGRAPH_VERSION: string = version;
