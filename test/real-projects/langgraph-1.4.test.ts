import { testSubgraphTokens } from "./support/subgraph-tokens.ts";

testSubgraphTokens("langgraph-1.4");
