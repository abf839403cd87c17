import { describe, test } from "vitest";
import { chooseConnection } from "../../../cli/api/connection.ts";

const LOCAL = { url: "http://127.0.0.1:8123", apiKey: "tw_local" };
const HOSTED = "https://host.example";

describe("the platform", () => {
  test("is the first one that is named, or that of this machine", ({ expect }) => {
    const urlOf = (hostUrl: string | undefined, variables: Record<string, string>): string =>
      chooseConnection({ hostUrl, apiKey: "k" }, variables, LOCAL).url;
    const variables = { THREADWORKS_URL: "https://own/", LANGGRAPH_HOST_URL: "https://shared" };
    expect(urlOf("https://option:8443/api-host/", variables)).toBe("https://option:8443/api-host");
    expect(urlOf(undefined, variables)).toBe("https://own");
    expect(urlOf(undefined, { ...variables, THREADWORKS_URL: "" })).toBe("https://shared");
    expect(urlOf(undefined, {})).toBe("http://127.0.0.1:8123");
  });

  test("must be named if none runs on this machine", ({ expect }) => {
    expect(() => chooseConnection({ apiKey: "k" }, {}, undefined)).toThrow(
      "which platform? Give its URL with --host-url or THREADWORKS_URL, or start one here with npm start",
    );
  });

  for (const text of ["host", "ftp://host", "https://user:secret@host", "https://host?a=1"]) {
    test(`is refused if it is ${text}`, ({ expect }) => {
      const variables = { LANGGRAPH_HOST_URL: text };
      expect(() => chooseConnection({ apiKey: "k" }, variables, LOCAL)).toThrow(
        `LANGGRAPH_HOST_URL: ${text} is not the URL of a platform, such as https://host`,
      );
    });
  }
});

describe("the key", () => {
  const variables = {
    THREADWORKS_API_KEY: "own",
    LANGGRAPH_HOST_API_KEY: "host",
    LANGSMITH_API_KEY: "smith",
    LANGCHAIN_API_KEY: "chain",
  };
  const without = (...names: string[]): Record<string, string> =>
    Object.fromEntries(Object.entries(variables).filter(([name]) => !names.includes(name)));

  for (const [hostUrl, apiKey, env, source, key] of [
    [HOSTED, "given", variables, "--api-key", "given"],
    [HOSTED, undefined, variables, "THREADWORKS_API_KEY", "own"],
    [HOSTED, undefined, without("THREADWORKS_API_KEY"), "LANGGRAPH_HOST_API_KEY", "host"],
    [HOSTED, "", { LANGSMITH_API_KEY: "smith" }, "LANGSMITH_API_KEY", "smith"],
    [HOSTED, undefined, { LANGCHAIN_API_KEY: "chain" }, "LANGCHAIN_API_KEY", "chain"],
    [undefined, undefined, variables, "THREADWORKS_API_KEY", "own"],
    // Keys of other services are not sent to the platform of this machine.
    [
      undefined,
      undefined,
      without("THREADWORKS_API_KEY"),
      "LOCAL_API_KEY of this machine's platform",
      "tw_local",
    ],
    [
      "http://localhost:8123",
      undefined,
      {},
      "LOCAL_API_KEY of this machine's platform",
      "tw_local",
    ],
  ] as const) {
    test(`for ${hostUrl ?? "this machine"} comes from ${source}`, ({ expect }) => {
      expect(chooseConnection({ hostUrl, apiKey }, env, LOCAL)).toMatchObject({
        apiKey: key,
        keySource: source,
      });
    });
  }

  test("of this machine is not sent to another server", ({ expect }) => {
    for (const hostUrl of [HOSTED, "http://localhost:9000", "https://localhost:8123"]) {
      expect(() => chooseConnection({ hostUrl }, {}, LOCAL)).toThrow(
        `no API key for ${hostUrl}: give one with --api-key or THREADWORKS_API_KEY`,
      );
    }
  });

  test("for several workspaces is sent with the workspace", ({ expect }) => {
    const tenantOf = (tenant: string): string | undefined =>
      chooseConnection({ apiKey: "k" }, { LANGSMITH_TENANT_ID: tenant }, LOCAL).tenantId;
    expect(tenantOf("w")).toBe("w");
    expect(tenantOf("")).toBeUndefined();
  });
});
