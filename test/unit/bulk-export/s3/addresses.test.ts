import { describe, test } from "vitest";
import { endpointRefusal } from "../../../../src/lib/endpoint-address.ts";
import { objectUrl, type S3Location } from "../../../../src/bulk-export/s3/s3-address.ts";
import { S3Error } from "../../../../src/bulk-export/s3/s3-error.ts";
import { bucketAt } from "./support/buckets.ts";

const AWS: S3Location = {
  bucket: "exports",
  region: "eu-west-1",
  endpointUrl: null,
  bucketInHost: false,
};

const OTHER: S3Location = {
  bucket: "exports",
  region: null,
  endpointUrl: "https://s3.example.com/",
  bucketInHost: false,
};

describe("an object's URL", () => {
  test.for<[string, S3Location, string]>([
    ["at AWS", AWS, "https://exports.s3.eu-west-1.amazonaws.com/a/b%3D1"],
    [
      "at AWS, of a bucket with dots",
      { ...AWS, bucket: "my.exports" },
      "https://s3.eu-west-1.amazonaws.com/my.exports/a/b%3D1",
    ],
    [
      "in China",
      { ...AWS, region: "cn-north-1" },
      "https://exports.s3.cn-north-1.amazonaws.com.cn/a/b%3D1",
    ],
    [
      "in the European sovereign cloud",
      { ...AWS, region: "eusc-de-east-1" },
      "https://exports.s3.eusc-de-east-1.amazonaws.eu/a/b%3D1",
    ],
    ["elsewhere", OTHER, "https://s3.example.com/exports/a/b%3D1"],
    [
      "where the host is the bucket's",
      { ...OTHER, endpointUrl: "https://exports.s3.example.com", bucketInHost: true },
      "https://exports.s3.example.com/a/b%3D1",
    ],
    [
      "under a path",
      { ...OTHER, endpointUrl: "http://127.0.0.1:9000/storage/s3/" },
      "http://127.0.0.1:9000/storage/s3/exports/a/b%3D1",
    ],
  ])("%s", ([, location, url], { expect }) => {
    expect(objectUrl(location, "a/b=1")).toBe(url);
  });

  test("encodes every reserved character, and is not changed by a URL parser", ({ expect }) => {
    const url = objectUrl(OTHER, "a!'()*b/=&+,;:@$~ %/ü");
    expect(url).toBe(
      "https://s3.example.com/exports/a%21%27%28%29%2Ab/%3D%26%2B%2C%3B%3A%40%24~%20%25/%C3%BC",
    );
    expect(new URL(url).href).toBe(url);
  });

  test.for(["", ".", "a/../b", "a/."])("cannot have the key %j", (key, { expect }) => {
    expect(() => objectUrl(OTHER, key)).toThrow(TypeError);
  });

  test.for([null, "", "eu-west-1.example.com/", "EU"])(
    "needs a region at AWS, which %j is not",
    (region, { expect }) => {
      expect(() => objectUrl({ ...AWS, region }, "key")).toThrow(TypeError);
    },
  );
});

describe("an endpoint", () => {
  test.for([
    "https://s3.example.com",
    "https://s3.example.com:9000/path",
    "https://8.8.8.8",
    "https://[2606:4700::1111]",
    "https://localhost.example.com",
  ])("can be %s", (url, { expect }) => {
    expect(endpointRefusal(url, { allowPrivate: false })).toBeNull();
  });

  test.for([
    "https://127.0.0.1",
    "https://127.1",
    "https://2130706433",
    "https://0x7f.0.0.1",
    "https://0.0.0.0",
    "https://10.1.2.3",
    "https://172.31.0.1",
    "https://192.168.0.1",
    "https://169.254.169.254",
    "https://100.64.0.1",
    "https://198.18.0.1",
    "https://224.0.0.1",
    "https://255.255.255.255",
    "https://[::]",
    "https://[::1]",
    "https://[::ffff:10.0.0.1]",
    "https://[::10.0.0.1]",
    "https://[fe80::1]",
    "https://[fc00::1]",
    "https://[fec0::1]",
    "https://[64:ff9b::a00:1]",
    "https://[64:ff9b:1::a00:1]",
    "https://[2002:a00:1::]",
    "https://[2001:0:a00:1::]",
    "https://localhost",
    "https://LOCALHOST.",
    "https://s3.localhost",
    "https://minio.local",
    "https://metadata.google.internal",
    "https://nas.home.arpa",
    "https://s3.minio.svc",
    "https://nas.lan",
    "https://minio",
    "https://minio.",
  ])("is private if it is %s", (url, { expect }) => {
    expect(endpointRefusal(url, { allowPrivate: false })).toBe(
      "should not be a private or local address",
    );
    expect(endpointRefusal(url, { allowPrivate: true })).toBeNull();
  });

  test("can be without TLS in private networks only", ({ expect }) => {
    const url = "http://s3.example.com";
    expect(endpointRefusal(url, { allowPrivate: false })).toBe("should begin with https://");
    expect(endpointRefusal(url, { allowPrivate: true })).toBeNull();
  });

  test.for([
    ["s3.example.com", "should be a URL, such as https://s3.example.com"],
    ["ftp://s3.example.com", "should begin with https://"],
    ["https://user@s3.example.com", "should not contain credentials"],
    ["https://:word@s3.example.com", "should not contain credentials"],
    ["https://s3.example.com/?", "should not contain a query"],
    ["https://s3.example.com/#a", "should not contain a fragment"],
  ] as const)("is always refused if it is %s", ([url, reason], { expect }) => {
    expect(endpointRefusal(url, { allowPrivate: false })).toBe(reason);
    expect(endpointRefusal(url, { allowPrivate: true })).toBe(reason);
  });

  test("makes no bucket if it is refused", ({ expect }) => {
    const error = new S3Error(
      "invalid_endpoint",
      "The endpoint's URL should not be a private or local address",
    );
    expect(() => bucketAt("https://127.0.0.1", {}, { allowPrivate: false })).toThrow(error);
  });
});
