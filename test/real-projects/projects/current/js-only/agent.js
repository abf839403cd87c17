// Plain JavaScript in CommonJS.
const { Annotation, StateGraph } = require("@langchain/langgraph");
const { shout } = require("./lib/shout");

const State = Annotation.Root({ text: Annotation });

exports.graph = new StateGraph(State)
  .addNode("shout", ({ text }) => ({ text: shout(text) }))
  .addEdge("__start__", "shout")
  .compile();
