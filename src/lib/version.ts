/** The version of this software. A test compares it with package.json, which a Worker cannot import. */
export const VERSION = "0.1.0";

/** The LangGraph version that this software includes; a project may bring another. */
export const LANGGRAPH_VERSION = "1.7.3";
