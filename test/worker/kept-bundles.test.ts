import { env, exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { MAX_KEPT_BUNDLES_BYTES } from "../../src/lib/remote-build.ts";

const hex = (first: string, rest: string): string => first + rest.repeat(63);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Returns the binding of a workspace's build. */
function packagesOf(workspaceId: string) {
  return exports.BuildPackages({ props: { endsAt: Date.now() + 60_000, workspaceId } });
}

/** Returns the error of an RPC call as a text, or null. */
async function refusal(call: PromiseLike<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    return String(error);
  }
}

test("bundles are for builds of the same workspace with the same digest", async () => {
  const own = packagesOf(crypto.randomUUID());
  await own.keepBundles(hex("a", "1"), bytes("kept"));

  expect(await own.bundles(hex("a", "1"))).toEqual(bytes("kept"));
  expect(await own.bundles(hex("a", "2"))).toBe(null);
  expect(await packagesOf(crypto.randomUUID()).bundles(hex("a", "1"))).toBe(null);
});

test("a workspace has sixteen slots, and new bundles replace old ones", async () => {
  const workspaceId = crypto.randomUUID();
  const own = packagesOf(workspaceId);
  for (const rest of ["1", "2"]) {
    for (const first of "0123456789abcdef") {
      await own.keepBundles(hex(first, rest), bytes(first + rest));
    }
  }
  const { objects } = await env.SOURCES.list({ prefix: `packages/bundles/1/${workspaceId}/` });

  expect(objects).toHaveLength(16);
  expect(await own.bundles(hex("3", "1"))).toBe(null);
  expect(await own.bundles(hex("3", "2"))).toEqual(bytes("32"));
});

test("bundles that are too large or not named by a digest are refused", async () => {
  const own = packagesOf(crypto.randomUUID());

  expect(
    await refusal(own.keepBundles(hex("b", "1"), new Uint8Array(MAX_KEPT_BUNDLES_BYTES + 1))),
  ).toMatch(/bytes are more than is kept of a build$/);
  expect(await own.bundles(hex("b", "1"))).toBe(null);
  for (const name of ["", "../a", hex("b", "1").toUpperCase()]) {
    expect(await refusal(own.keepBundles(name, bytes("kept")))).toMatch(/named by a digest$/);
    expect(await refusal(own.bundles(name))).toMatch(/named by a digest$/);
  }
});
