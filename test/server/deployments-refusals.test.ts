import { describe } from "vitest";
import {
  createDeployment,
  type Deployer,
  newDeployer,
  newUpload,
  sourceBody,
  templateBody,
  uploaded,
} from "../support/deployments.ts";
import { testWithServer } from "../support/server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithServer({}, "project", { rollouts: false }).extend(
  "deployer",
  { scope: "file" },
  ({ server }) => newDeployer(server),
);

const bare = testWithServer({ ENCRYPTION_KEYS: "" }, "project", { rollouts: false }).extend(
  "deployer",
  ({ server }) => newDeployer(server),
);

const unsigned = testWithServer({ SIGNING_SECRET: "" }, "project", { rollouts: false }).extend(
  "deployer",
  ({ server }) => newDeployer(server, "plus"),
);

const OWN_PROJECTS =
  "Deployments of own projects are not enabled for this workspace: source internal_source needs the plan Plus or Enterprise";

async function noneIsThere({ call }: Deployer): Promise<boolean> {
  const { body } = await call("GET", "/deployments");
  return (body as { resources: unknown[] }).resources.length === 0;
}

const SECRET = { name: "A", value: "1" };

describe("a new deployment is refused", () => {
  const NO_IMAGES = "Images are not run here: upload a built project";
  const NO_LISTENERS = "There are no listeners here";
  const NO_BUILD = "Commands are not run here, the lockfile determines what is installed";

  test.for([
    ["name", { name: undefined }, "missing", "Field required"],
    ["name", { name: "" }, "string_pattern_mismatch", "begin with a letter"],
    ["name", { name: "1st" }, "string_pattern_mismatch", "begin with a letter"],
    ["name", { name: "a.b" }, "string_pattern_mismatch", "only letters, digits"],
    ["name", { name: "a".repeat(101) }, "string_too_long", "at most 100"],
    ["source", { source: undefined }, "missing", "Field required"],
    ["source", { source: "external_docker" }, "enum", NO_IMAGES],
    ["source", { source: "internal_docker" }, "enum", NO_IMAGES],
    ["source", { source: "ftp" }, "enum", "'internal_source' or 'internal_template'"],
    ["source_config", { source_config: undefined }, "missing", "Field required"],
    ["source_config", { source_config: null }, "dict_type", "an object"],
    ["source_revision_config", { source_revision_config: undefined }, "missing", "Field required"],
    ["secret_references", { secret_references: [] }, "value_error", "no Kubernetes secrets"],
    ["tracked_packages", { tracked_packages: {} }, "value_error", "not tracked"],
    ["secrets", { secrets: {} }, "list_type", "a valid list"],
    ["secrets", { secrets: Array.from({ length: 65 }, () => SECRET) }, "too_long", "at most 64"],
  ] as const)("for %s: %o", async ([field, change, type, text], { deployer, expect }) => {
    const given = { ...templateBody("refused"), ...change };
    const { status, body } = await deployer.call("POST", "/deployments", given);
    const detail = [{ loc: ["body", field], msg: expect.stringContaining(text), type }];
    expect([status, body]).toEqual([422, { detail }]);
    expect(await noneIsThere(deployer)).toBe(true);
  });

  test.for([
    ["template_id", null, "missing", "Field required for source internal_template"],
    ["template_id", "nothing", "enum", "Input should be one of 'agent'"],
    ["deployment_type", "huge", "enum", "'dev_free'"],
    ["integration_id", MISSING_ID, "value_error", "Only a deployment of source github"],
    ["repo_url", "https://github.com/a/b", "value_error", "Only a deployment of source github"],
    ["repo_branch", "main", "value_error", "Give it as source_revision_config.repo_ref"],
    ["build_on_push", true, "value_error", "Only a deployment of source github"],
    ["custom_url", "https://a.example", "value_error", "cannot be chosen"],
    ["resource_spec", {}, "value_error", "no machines"],
    ["listener_id", MISSING_ID, "value_error", NO_LISTENERS],
    ["listener_config", {}, "value_error", NO_LISTENERS],
    ["install_command", "npm ci", "value_error", NO_BUILD],
    ["build_command", "npm run build", "value_error", NO_BUILD],
  ] as const)(
    "for source_config.%s: %o",
    async ([field, value, type, text], { deployer, expect }) => {
      const config = { template_id: "agent", [field]: value };
      const given = templateBody("refused", { source_config: config });
      const { status, body } = await deployer.call("POST", "/deployments", given);
      const loc = ["body", "source_config", field];
      const detail = [{ loc, msg: expect.stringContaining(text), type }];
      expect([status, body]).toEqual([422, { detail }]);
    },
  );

  test.for([
    ["source_tarball_path", "x", "value_error", "A template has no tarball"],
    ["langgraph_config_path", "langgraph.json", "value_error", "A template has no tarball"],
    ["repo_ref", "main", "value_error", "A template has no tarball and no repository"],
    ["repo_commit_sha", "abc", "value_error", "The platform sets it"],
    ["image_uri", "a/b", "value_error", NO_IMAGES],
    ["tracked_packages", [], "value_error", "not tracked"],
  ] as const)(
    "for source_revision_config.%s: %o",
    async ([field, value, type, text], { deployer, expect }) => {
      const given = templateBody("refused", { source_revision_config: { [field]: value } });
      const { status, body } = await deployer.call("POST", "/deployments", given);
      const loc = ["body", "source_revision_config", field];
      const detail = [{ loc, msg: expect.stringContaining(text), type }];
      expect([status, body]).toEqual([422, { detail }]);
    },
  );

  test.for(["../x", "/etc/passwd", "a//b", "a/", "a\\b", "a\nb", ""])(
    "for an invalid configuration at %o",
    async (path, { deployer, expect }) => {
      const config = { langgraph_config_path: path };
      const given = sourceBody("refused", null, { source_revision_config: config });
      const { status, body } = await deployer.call("POST", "/deployments", given);
      const loc = ["body", "source_revision_config", "langgraph_config_path"];
      expect([status, body]).toMatchObject([422, { detail: [{ loc }] }]);
    },
  );

  test.for([
    [["name"], { value: "1" }, "missing", "Field required"],
    [["value"], { name: "A" }, "missing", "Field required"],
    [["name"], { name: "A-B", value: "1" }, "string_pattern_mismatch", "a variable's name"],
    [["name"], { name: "1A", value: "1" }, "string_pattern_mismatch", "a variable's name"],
    [["name"], { name: "", value: "1" }, "string_pattern_mismatch", "a variable's name"],
    [["name"], { name: "PORT", value: "1" }, "value_error", "PORT is reserved"],
    [["name"], { name: "PROJECT_ENV", value: "1" }, "value_error", "PROJECT_ENV is reserved"],
    [["name"], { name: "LSD_DD_X", value: "1" }, "value_error", "LSD_DD_X is reserved"],
    [["name"], { name: "THREADWORKS_X", value: "1" }, "value_error", "THREADWORKS_X is reserved"],
    [["name"], { name: "__proto__", value: "1" }, "value_error", "__proto__ is reserved"],
    [["value"], { name: "A", value: 1 }, "string_type", "a valid string"],
    [["value"], { name: "A", value: "ä".repeat(2561) }, "value_error", "at most 5120 bytes"],
    [["value"], { name: "A", value: "**********" }, "value_error", "mask that responses show"],
    [
      ["value"],
      { name: "THREADWORKS_OUTBOUND_HOSTS", value: "https://a.example" },
      "value_error",
      "hosts separated by commas",
    ],
  ] as const)("for a secret's %o: %o", async ([path, secret, type, text], { deployer, expect }) => {
    const given = templateBody("refused", { secrets: [{ name: "FINE", value: "1" }, secret] });
    const { status, body } = await deployer.call("POST", "/deployments", given);
    const loc = ["body", "secrets", 1, ...path];
    const detail = [{ loc, msg: expect.stringContaining(text), type }];
    expect([status, body]).toEqual([422, { detail }]);
  });

  test("for a secret that is given twice", async ({ deployer, expect }) => {
    const given = templateBody("refused", { secrets: [SECRET, { ...SECRET, value: "2" }] });
    const { status, body } = await deployer.call("POST", "/deployments", given);
    const msg = "There are two secrets named A";
    const detail = [{ loc: ["body", "secrets", 1, "name"], msg, type: "value_error" }];
    expect([status, body]).toEqual([422, { detail }]);
  });

  test("for a template without the built-in project", async ({ deployer, expect }) => {
    const given = sourceBody("refused", null, { source_config: { template_id: "agent" } });
    const { status, body } = await deployer.call("POST", "/deployments", given);
    const loc = ["body", "source_config", "template_id"];
    expect([status, body]).toMatchObject([422, { detail: [{ loc, type: "value_error" }] }]);
  });

  test("for a tarball that does not exist", async ({ server, deployer, expect }) => {
    const other = await newDeployer(server);
    const pending = await newUpload(deployer);
    const unknown = "String should be the object_path from the response to an upload-url request";
    for (const [path, msg] of [
      ["x", unknown],
      [`${deployer.id}/uploads/${MISSING_ID}.tar.gz`, unknown],
      [await uploaded(other), unknown],
      [pending.path, "Nothing has been uploaded there yet"],
    ] as const) {
      const { status, body } = await deployer.call("POST", "/deployments", sourceBody("x", path));
      const loc = ["body", "source_revision_config", "source_tarball_path"];
      expect([status, body]).toEqual([422, { detail: [{ loc, msg, type: "value_error" }] }]);
    }
    expect(await noneIsThere(deployer)).toBe(true);
  });

  test("without a plan for own projects, unless it is from a template", async ({
    server,
    expect,
  }) => {
    const deployer = await newDeployer(server, "developer");
    const created = await createDeployment(deployer, templateBody("mine"));
    const change = {
      revision_source: "internal_source",
      source_revision_config: { source_tarball_path: "x" },
    };
    for (const [method, path, given] of [
      ["POST", "/deployments", sourceBody("refused", null)],
      ["POST", "/deployments/upload-url", undefined],
      ["POST", `/deployments/${created.id}/upload-url`, undefined],
      ["PATCH", `/deployments/${created.id}`, change],
    ] as const) {
      const { status, body } = await deployer.call(method, path, given);
      expect([path, status, body]).toEqual([path, 403, { detail: OWN_PROJECTS }]);
    }
    const plus = await newDeployer(server, "plus");
    await createDeployment(plus, sourceBody("mine", await uploaded(plus)));
  });

  bare("with secrets if no key to encrypt them is configured", async ({ deployer, expect }) => {
    const given = templateBody("mine", { secrets: [SECRET] });
    const { status, body } = await deployer.call("POST", "/deployments", given);
    const detail = expect.stringMatching(/^Secrets cannot be kept: ENCRYPTION_KEYS is not set/);
    expect([status, body]).toEqual([503, { detail }]);
    await createDeployment(deployer, templateBody("mine"));
  });
});

unsigned("an upload URL is refused if it cannot be signed", async ({ deployer, expect }) => {
  const { status, body } = await deployer.call("POST", "/deployments/upload-url");
  const detail = expect.stringMatching(/^Links cannot be signed: SIGNING_SECRET is not set; in a/);
  expect([status, body]).toEqual([503, { detail }]);
});

describe("a change is refused", () => {
  test.for([
    [["display_name"], { display_name: "" }, "string_too_short", "at least 1"],
    [["revision_source"], { revision_source: "github" }, "value_error", "alone makes no"],
    [["revision_source"], { revision_source: "internal_source" }, "value_error", "alone makes no"],
    [
      ["source_config", "template_id"],
      { source_config: { template_id: "approval" } },
      "value_error",
      'It cannot be changed: it is "agent"',
    ],
    [
      ["source_config", "deployment_type"],
      { source_config: { deployment_type: "prod" } },
      "value_error",
      "It cannot be changed: it is null",
    ],
    [
      ["source_config", "resource_spec"],
      { source_config: { resource_spec: {} } },
      "value_error",
      "",
    ],
    [
      ["source_revision_config", "source_tarball_path"],
      { source_revision_config: { source_tarball_path: "x" } },
      "value_error",
      "A template has no tarball",
    ],
    [
      ["source_revision_config", "source_tarball_path"],
      { revision_source: "internal_source", secrets: [SECRET] },
      "missing",
      "Field required, because",
    ],
    [["secrets", 0, "name"], { secrets: [{ name: "PATH", value: "" }] }, "value_error", "reserved"],
  ] as const)("for %o: %o", async ([path, change, type, text], { server, expect }) => {
    const deployer = await newDeployer(server);
    const created = await createDeployment(deployer, templateBody("mine"));
    const answer = await deployer.call("PATCH", `/deployments/${created.id}`, change);
    const detail = [{ loc: ["body", ...path], msg: expect.stringContaining(text), type }];
    expect([answer.status, answer.body]).toEqual([422, { detail }]);
    const read = await deployer.call("GET", `/deployments/${created.id}`);
    expect(read.body).toEqual(created);
  });

  test("to a template if the deployment was not made from one", async ({ server, expect }) => {
    const deployer = await newDeployer(server);
    const created = await createDeployment(deployer, sourceBody("mine", null));
    const change = { revision_source: "internal_template", secrets: [SECRET] };
    const { status, body } = await deployer.call("PATCH", `/deployments/${created.id}`, change);
    const loc = ["body", "revision_source"];
    expect([status, body]).toMatchObject([422, { detail: [{ loc, type: "value_error" }] }]);
  });

  test("with an invalid or unknown id", async ({ deployer, expect }) => {
    const malformed = await deployer.call("PATCH", "/deployments/mine", {});
    expect([malformed.status, malformed.body]).toMatchObject([
      422,
      { detail: [{ loc: ["path", "deployment_id"], type: "uuid_parsing" }] },
    ]);
    const missing = await deployer.call("PATCH", `/deployments/${MISSING_ID}`, {});
    expect([missing.status, missing.body]).toEqual([
      404,
      { detail: `Deployment ID ${MISSING_ID} not found.` },
    ]);
  });
});
