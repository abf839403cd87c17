import { END, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { z } from "zod";

const Order = new StateSchema({ item: z.string(), total: z.number().default(0) });

export const graph = new StateGraph(Order)
  .addNode("price", ({ item }) => ({ total: item.length }))
  .addEdge(START, "price")
  .addEdge("price", END)
  .compile();
