import { describe, test } from "vitest";
import { readWebhooks, webhooksSchema } from "../../../cli/project/langgraph-json-webhooks.ts";

const PATH = "/project/langgraph.json";

function read(webhooks: object | undefined, http?: Record<string, unknown>) {
  return readWebhooks(webhooks && webhooksSchema.parse(webhooks), http, PATH);
}

describe('"webhooks" of langgraph.json', () => {
  test("can be missing", ({ expect }) => {
    expect(read(undefined)).toBe(undefined);
    expect(read(undefined, { disable_webhooks: false, disable_mcp: true })).toBe(undefined);
  });

  test("allow any public URL by default", ({ expect }) => {
    expect(read({})).toEqual({
      headers: {},
      rules: {
        disabled: false,
        require_https: false,
        allowed_domains: null,
        allowed_ports: null,
        max_url_length: null,
        disable_loopback: true,
        has_headers: false,
      },
    });
  });

  test("define the allowed URLs, and what is sent", ({ expect }) => {
    const url = {
      require_https: true,
      allowed_domains: ["*.example.com"],
      allowed_ports: [443],
      max_url_length: 200,
      disable_loopback: false,
    };
    const headers = { authorization: "Bearer ${{ env.HOOK_TOKEN }}" };
    expect(read({ env_prefix: "HOOK_", headers, url })).toEqual({
      headers,
      rules: { disabled: false, has_headers: true, ...url },
    });
  });

  test('can be switched off by "http.disable_webhooks"', ({ expect }) => {
    expect(read(undefined, { disable_webhooks: true })?.rules.disabled).toBe(true);
  });

  test("are refused if they are invalid, and each error is named", ({ expect }) => {
    const faulty = {
      headers: {
        "x-foreign": "${{ env.DATABASE_PASSWORD }}",
        "x-malformed": "${{ secrets.TOKEN }}",
        "x bad": "a",
        "x-line": "a\nb",
        "x-good": "${{ env.LG_WEBHOOK_A }}",
      },
      url: { allowed_domains: ["https://a.example", "a.example,b.example", "b.example"] },
    };
    expect(() => read(faulty)).toThrow(
      [
        `${PATH} cannot be used:`,
        `  "webhooks.url.allowed_domains": "https://a.example" is not a host name, such as *.example.com`,
        `  "webhooks.url.allowed_domains": "a.example,b.example" is not a host name, such as *.example.com`,
        `  "webhooks.headers.x-foreign": the name of DATABASE_PASSWORD should begin with LG_WEBHOOK_`,
        `  "webhooks.headers.x-malformed": \${{ secrets.TOKEN }} should be like \${{ env.LG_WEBHOOK_X }}`,
        `  "webhooks.headers.x bad" is not a header`,
        `  "webhooks.headers.x-line" is not a header`,
      ].join("\n"),
    );
  });
});
