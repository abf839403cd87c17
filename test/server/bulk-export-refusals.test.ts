import { destinationBody } from "../support/destinations.ts";
import { answerOf, send } from "../support/http.ts";
import { testWithServer } from "../support/server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const PATH = "/api/v1/bulk-exports/destinations";

const NOWHERE = { url: "", bucket: "exports", accessKeyId: "id", secretAccessKey: "secret" };

const test = testWithServer({
  AGENT_AUTH: "api-key",
  EXPORT_PRIVATE_ENDPOINTS: "refuse",
  ENCRYPTION_KEYS: "",
}).extend("create", async ({ server }) => {
  const { apiKey } = await makeWorkspace(server, "refusals");
  return (config: object) =>
    answerOf(
      send(server, "POST", PATH, destinationBody(NOWHERE, { config }), { "x-api-key": apiKey }),
    );
});

test.for([
  ["http://s3.example.com", "Input should begin with https://"],
  ["https://169.254.169.254", "Input should not be a private or local address"],
  ["https://minio:9000", "Input should not be a private or local address"],
])("an endpoint at %s is refused", async ([endpoint, msg], { create, expect }) => {
  expect(await create({ endpoint_url: endpoint })).toEqual({
    status: 422,
    body: { detail: [{ loc: ["body", "config", "endpoint_url"], msg, type: "value_error" }] },
  });
});

test("credentials are refused without a key to encrypt them", async ({ create, expect }) => {
  expect(await create({ endpoint_url: null, region: "eu-west-1" })).toEqual({
    status: 503,
    body: {
      detail:
        "Credentials cannot be stored: ENCRYPTION_KEYS is not set, but secrets cannot be kept without it",
    },
  });
});
