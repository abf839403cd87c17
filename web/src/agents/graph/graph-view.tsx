import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { graphQuery, useAgents } from "../../api/agents.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { type GraphLayout, layoutGraph } from "./graph-layout.ts";
import styles from "./graph-view.module.css";

type Props = { assistantId: string; lit: ReadonlySet<string> };

/** Draws a graph. The nodes that are running, or are next, are highlighted. */
export default function GraphView({ assistantId, lit }: Props): ReactNode {
  const { data, error, refetch } = useQuery(graphQuery(useAgents(), assistantId));
  const placed = useMemo(() => (data === undefined ? null : layoutGraph(data)), [data]);
  if (error !== null) return <ErrorNotice error={error} retry={refetch} />;
  if (placed === null) return null;
  return (
    <figure>
      <svg
        className={styles.graph}
        viewBox={`0 0 ${placed.width} ${placed.height}`}
        width={placed.width}
        height={placed.height}
        role="img"
        aria-label={describe(placed)}
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path className={styles.arrow} d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {placed.edges.map(({ id, points, isConditional }) => (
          <path
            key={id}
            className={isConditional ? styles.conditional : styles.edge}
            d={curve(points)}
            markerEnd="url(#arrow)"
          />
        ))}
        {placed.nodes.map(({ id, name, x, y, width, height }) => (
          <g key={id} className={lit.has(id) ? styles.lit : styles.node} data-node={id}>
            <rect
              x={x - width / 2}
              y={y - height / 2}
              width={width}
              height={height}
              rx={height / 2}
            />
            <text x={x} y={y}>
              {name}
            </text>
          </g>
        ))}
      </svg>
      <figcaption className={styles.caption}>
        Dashed lines are taken when the preceding node chooses them.
      </figcaption>
    </figure>
  );
}

/** Returns the path of a curve through all points, with rounded corners. */
function curve(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return "";
  const bends = rest.slice(0, -1).map((point, index) => {
    const after = rest[index + 1] ?? last;
    const end = after === last ? last : { x: (point.x + after.x) / 2, y: (point.y + after.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y} ${bends.length === 0 ? `L${last.x} ${last.y}` : bends.join(" ")}`;
}

function describe({ nodes }: GraphLayout): string {
  return `The graph, with the nodes ${nodes.map(({ name }) => name).join(", ")}`;
}
