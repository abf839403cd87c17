export { copy } from "@langchain/core";
