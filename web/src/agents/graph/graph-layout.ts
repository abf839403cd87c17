import type { AssistantGraph } from "@langchain/langgraph-sdk";
import { graphlib, layout } from "@dagrejs/dagre";

const NODE_HEIGHT = 34;
const CHARACTER_WIDTH = 7.4;
const PADDING = 30;
const MIN_WIDTH = 64;

type Point = { x: number; y: number };

type PlacedNode = Point & { id: string; name: string; width: number; height: number };

type PlacedEdge = { id: string; points: Point[]; isConditional: boolean; label: string };

export type GraphLayout = {
  width: number;
  height: number;
  nodes: PlacedNode[];
  edges: PlacedEdge[];
};

/** Returns the positions of a graph's nodes and edges, laid out from top to bottom. */
export function layoutGraph({ nodes, edges }: AssistantGraph): GraphLayout {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 36, ranksep: 44, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) {
    const name = nameOf(String(id));
    const width = Math.max(MIN_WIDTH, name.length * CHARACTER_WIDTH + PADDING);
    graph.setNode(String(id), { width, height: NODE_HEIGHT });
  }
  for (const [index, { source, target }] of edges.entries()) {
    graph.setEdge(source, target, {}, String(index));
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: nodes.map(({ id }) => {
      const { x, y, width: own } = graph.node(String(id));
      return { id: String(id), name: nameOf(String(id)), x, y, width: own, height: NODE_HEIGHT };
    }),
    edges: edges.map(({ source, target, conditional, data }, index) => ({
      id: String(index),
      points: graph.edge(source, target, String(index)).points ?? [],
      isConditional: conditional === true,
      label: typeof data === "string" && data !== target ? data : "",
    })),
  };
}

function nameOf(id: string): string {
  return { __start__: "start", __end__: "end" }[id] ?? id;
}
