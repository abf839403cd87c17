import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type BreakingProxy = {
  url: string;
  /** Returns the number of connections broken so far. */
  broken: () => number;
  close: () => Promise<void>;
};

/** Forwards everything to a server, but breaks a connection when `isBroken` returns true for the bytes received so far. */
export async function startBreakingProxy(
  target: string,
  isBroken: (received: string, brokenSoFar: number) => boolean,
): Promise<BreakingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let broken = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let received = "";
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // The other side of a broken connection sees it as an error.
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    client.pipe(upstream);
    upstream.on("data", (chunk) => {
      client.write(chunk);
      received += chunk.toString("latin1");
      if (!isBroken(received, broken)) return;
      broken += 1;
      received = "";
      client.resetAndDestroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    broken: () => broken,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
