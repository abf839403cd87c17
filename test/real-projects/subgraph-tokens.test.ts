import { testSubgraphTokens } from "./support/subgraph-tokens.ts";

testSubgraphTokens("current/subgraph-tokens");
