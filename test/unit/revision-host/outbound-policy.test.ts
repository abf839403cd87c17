import { describe, test } from "vitest";
import {
  type OutboundPolicy,
  outboundRefusal,
} from "../../../src/revision-host/outbound-policy.ts";

const OPEN: OutboundPolicy = { installation: ["*"], deployment: null, allowPrivate: false };

function ruleOf(url: string, policy: Partial<OutboundPolicy> = {}, headers = {}): string | null {
  const refusal = outboundRefusal({ url, headers: new Headers(headers) }, { ...OPEN, ...policy });
  return refusal?.rule ?? null;
}

describe("outboundRefusal", () => {
  test.for([
    "https://api.example.com/v1?q=1",
    "http://api.example.com:8080/",
    "https://93.184.216.34/",
    "https://[2606:2800:220:1::1]/",
  ])("allows %s", (url, { expect }) => {
    expect(ruleOf(url)).toBeNull();
  });

  test.for([
    "http://localhost:8123/",
    "http://LOCALHOST./",
    "http://localhost../",
    "http://127.0.0.1../",
    "http://metadata.google.internal.%2e/",
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[fd00::1]/",
    "http://metadata.google.internal/",
    "http://intranet/",
    "http://168.63.129.16/machine",
    "http://2822734096/",
    "http://[::ffff:168.63.129.16]/",
    "http://[64:ff9b::a83f:8110]/",
    "http://[2002:a83f:8110::1]/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://[fd00:ec2::254]/",
    "http://redis.default.svc/",
    "http://redis.default.svc.cluster.local/",
    "http://db.internal./",
  ])("treats %s as not public", (url, { expect }) => {
    expect(ruleOf(url)).toBe("private_address");
    expect(ruleOf(url, { allowPrivate: true })).toBeNull();
  });

  test("refuses other protocols, and upgrades", ({ expect }) => {
    expect(ruleOf("ftp://api.example.com/")).toBe("protocol");
    expect(ruleOf("file:///etc/passwd", { allowPrivate: true })).toBe("protocol");
    expect(ruleOf("https://api.example.com/", {}, { upgrade: "websocket" })).toBe("websocket");
  });

  test("checks the installation's list and the deployment's", ({ expect }) => {
    const lists = { installation: ["*.example.com"], deployment: ["api.example.com", "b.test"] };
    expect(ruleOf("https://api.example.com/", lists)).toBeNull();
    expect(ruleOf("https://www.example.com/", lists)).toBe("deployment_hosts");
    expect(ruleOf("https://b.test/", lists)).toBe("installation_hosts");
    expect(ruleOf("https://www.example.com/", { ...lists, deployment: null })).toBeNull();
    expect(ruleOf("https://www.example.com/", { deployment: [] })).toBe("deployment_hosts");
  });
});
