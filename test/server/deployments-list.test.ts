import { describe } from "vitest";
import {
  createDeployment,
  type DeploymentBody,
  newDeployer,
  sourceBody,
  templateBody,
} from "../support/deployments.ts";
import { testWithServer } from "../support/server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const NAMES = ["Support-Bot", "support_bot", "billing", "prod-billing"] as const;

const test = testWithServer({}, "project", { rollouts: false })
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server))
  .extend("made", { scope: "file" }, async ({ deployer }) => {
    const made: DeploymentBody[] = [];
    for (const name of NAMES) {
      const type = name === "prod-billing" ? "prod" : "dev";
      const body =
        name === "billing"
          ? sourceBody(name, null)
          : templateBody(name, { source_config: { template_id: "agent", deployment_type: type } });
      made.push(await createDeployment(deployer, body));
    }
    await deployer.call("DELETE", `/deployments/${made[3]?.id}`);
    return made;
  })
  .extend("list", ({ deployer, made }) => async (query: string) => {
    const { status, body } = await deployer.call("GET", `/deployments?${query}`);
    if (status !== 200) return [status, body];
    const { resources, offset } = body as { resources: DeploymentBody[]; offset: number };
    return [resources.map(({ id }) => made.findIndex((each) => each.id === id)), offset];
  });

describe("the list of deployments", () => {
  test("has the newest ones first, in pages", async ({ list, expect }) => {
    expect(await list("")).toEqual([[3, 2, 1, 0], 4]);
    expect(await list("limit=3")).toEqual([[3, 2, 1], 3]);
    expect(await list("limit=3&offset=3")).toEqual([[0], 4]);
    expect(await list("offset=4")).toEqual([[], 4]);
  });

  test("shows the same fields as a single deployment", async ({ deployer, made, expect }) => {
    const { body } = await deployer.call("GET", "/deployments?name_contains=support-bot");
    expect(body).toEqual({ resources: [made[0]], offset: 1 });
  });

  test("is filtered by the query", async ({ list, made, expect }) => {
    for (const [query, found] of [
      ["name_contains=BILL", [3, 2]],
      ["name_contains=t_b", [1]],
      ["name_contains=", [3, 2, 1, 0]],
      ["name=billing", [2]],
      ["name=Billing", []],
      ["name=billing&name_contains=prod", []],
      ["name_contains=%25", []],
      ["status=READY", [2, 1, 0]],
      ["status=AWAITING_DELETE", [3]],
      ["status=UNUSED", []],
      ["deployment_type=dev", [1, 0]],
      ["deployment_type=prod", [3]],
      ["deployment_type=dev_free", []],
      [`deployment_ids=${made[1]?.id},${made[2]?.id},${MISSING_ID}`, [2, 1]],
      [`deployment_ids=${made[1]?.id}&deployment_ids=${made[0]?.id.toUpperCase()}`, [1, 0]],
      ["image_version=1", []],
      [`tag_value_ids=${MISSING_ID}`, []],
      ["name_contains=bot&status=READY&deployment_type=dev", [1, 0]],
    ] as const) {
      expect([query, await list(query)]).toEqual([query, [found, found.length]]);
    }
  });

  test.for([
    ["status=GONE", "status", "enum"],
    ["deployment_type=huge", "deployment_type", "enum"],
    ["deployment_ids=x", "deployment_ids", "uuid_parsing"],
    ["deployment_ids=", "deployment_ids", "uuid_parsing"],
    [`deployment_ids=${`${MISSING_ID},`.repeat(100)}${MISSING_ID}`, "deployment_ids", "too_long"],
    ["tag_value_ids=x", "tag_value_ids", "uuid_parsing"],
    ["remote_reconciled=false", "remote_reconciled", "value_error"],
    ["limit=101", "limit", "less_than_equal"],
    ["limit=0", "limit", "greater_than_equal"],
    ["offset=x", "offset", "int_parsing"],
  ] as const)("is refused with %s", async ([query, field, type], { list, expect }) => {
    expect(await list(query)).toMatchObject([422, { detail: [{ loc: ["query", field], type }] }]);
  });
});
