export type S3Location = {
  bucket: string;
  /** Requests are signed for it; null: the one that the endpoint's host tells, or us-east-1. */
  region: string | null;
  /** Null: AWS. */
  endpointUrl: string | null;
  /** Whether `endpointUrl` is the bucket's own, so that the bucket is not in the path. */
  bucketInHost: boolean;
};

/** AWS regions are parts of host names. */
export const AWS_REGION = /^[a-z]{2,}(-[a-z0-9]+)+$/;

const AWS_DOMAINS = [
  { prefix: "cn-", domain: "amazonaws.com.cn" },
  { prefix: "eusc-", domain: "amazonaws.eu" },
  { prefix: "", domain: "amazonaws.com" },
];

/** Others cannot be in a host name, or are not covered by AWS's certificate there. */
const NAME_FOR_HOST = /^[a-z0-9][a-z0-9-]*[a-z0-9]$/;

/**
 * The URL of an object. Every reserved character of a key is percent-encoded, so that servers that
 * take a path as it comes and those that normalise it sign the same. Throws when no URL can name
 * the key.
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

/** RFC 3986: of the reserved characters `encodeURIComponent` leaves five. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
