import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type CuttableProxy = {
  url: string;
  /** Breaks every open connection, as a lost network does, and returns their number. New connections are accepted. */
  cut: () => number;
  close: () => Promise<void>;
};

/** Passes bytes between a browser and a server on loopback. */
export async function startCuttableProxy(target: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): number => {
    for (const socket of sockets) socket.resetAndDestroy();
    return sockets.size;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
