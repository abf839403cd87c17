import { testLangGraph0 } from "./support/langgraph-0.ts";

testLangGraph0("langgraph-oldest", { streamsTokens: false, interruptsBefore: false });
