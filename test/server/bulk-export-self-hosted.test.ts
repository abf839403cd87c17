import { destinationBody } from "../support/destinations.ts";
import { send } from "../support/http.ts";
import { startS3Server } from "../support/s3-server.ts";
import { testWithServer } from "../support/server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const PATH = "/api/v1/bulk-exports/destinations";

const test = testWithServer({
  AGENT_AUTH: "api-key",
  SELF_HOSTED: "on",
  AWS_ACCESS_KEY_ID: "S3RVER",
  AWS_SECRET_ACCESS_KEY: "S3RVER",
});

test("an installation's own credentials are used if a destination has none", async ({
  server,
  expect,
  onTestFinished,
}) => {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  const { apiKey } = await makeWorkspace(server, "self-hosted");
  const headers = { "x-api-key": apiKey };
  const body = destinationBody(s3, { credentials: null });
  const created = await send(server, "POST", PATH, body, headers);
  expect(created.status).toBe(200);
  expect(created.body).toMatchObject({ credentials_keys: [] });
  const { id } = created.body as { id: string };
  expect(
    await server.database.run("SELECT credentials_version FROM export_destinations WHERE id = ?", [
      id,
    ]),
  ).toEqual([{ credentials_version: null }]);

  const { credentials } = destinationBody(s3);
  const changed = await send(server, "PATCH", `${PATH}/${id}`, { credentials }, headers);
  expect(changed.status).toBe(200);
  expect(changed.body).toMatchObject({
    credentials_keys: ["access_key_id", "secret_access_key"],
  });
});
