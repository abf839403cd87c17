/** Of this software. A test compares what is here with package.json, which a Worker cannot import. */
export const VERSION = "0.1.0";

/** Of the LangGraph that comes with this software; a project may bring another. */
export const LANGGRAPH_VERSION = "1.7.3";
