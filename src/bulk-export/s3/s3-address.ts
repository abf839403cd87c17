export type S3Location = {
  bucket: string;
  /** The region for which requests are signed; null for the one in the endpoint's host name, or us-east-1. */
  region: string | null;
  /** Null for AWS. */
  endpointUrl: string | null;
  /** Whether `endpointUrl` is the bucket's own URL, so that the bucket is not part of the path. */
  bucketInHost: boolean;
};

/** AWS regions are parts of host names. */
export const AWS_REGION = /^[a-z]{2,}(-[a-z0-9]+)+$/;

const AWS_DOMAINS = [
  { prefix: "cn-", domain: "amazonaws.com.cn" },
  { prefix: "eusc-", domain: "amazonaws.eu" },
  { prefix: "", domain: "amazonaws.com" },
];

/** Other names cannot be in a host name, or AWS's certificate does not cover them there. */
const NAME_FOR_HOST = /^[a-z0-9][a-z0-9-]*[a-z0-9]$/;

/**
 * Returns the URL of an object. Every reserved character of the key is percent-encoded, so that servers which
 * normalise paths compute the same signature as those that do not. Throws when no URL can name the key.
 */
export function objectUrl(location: S3Location, key: string): string {
  const segments = key.split("/");
  if (key === "" || segments.some((segment) => segment === "." || segment === "..")) {
    throw new TypeError(`${JSON.stringify(key)} cannot be an object's key`);
  }
  return `${bucketUrl(location)}/${segments.map(encodeSegment).join("/")}`;
}

function bucketUrl({ bucket, region, endpointUrl, bucketInHost }: S3Location): string {
  if (endpointUrl === null) return awsUrl(bucket, region);
  const { origin, pathname } = new URL(endpointUrl);
  const base = `${origin}${pathname.replace(/\/+$/, "")}`;
  return bucketInHost ? base : `${base}/${encodeSegment(bucket)}`;
}

function awsUrl(bucket: string, region: string | null): string {
  if (region === null || !AWS_REGION.test(region)) {
    throw new TypeError(`${JSON.stringify(region)} is not an AWS region`);
  }
  const domain = AWS_DOMAINS.find(({ prefix }) => region.startsWith(prefix))?.domain;
  const host = `s3.${region}.${domain}`;
  return NAME_FOR_HOST.test(bucket)
    ? `https://${bucket}.${host}`
    : `https://${host}/${encodeSegment(bucket)}`;
}

/** Encodes as RFC 3986: `encodeURIComponent` leaves five of the reserved characters. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
