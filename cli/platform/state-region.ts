import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Region, REGIONS } from "../../src/lib/region.ts";
import { CliError } from "../cli-error.ts";

/** Returns the region that a state folder belongs to; the US when none is stored. */
export function stateRegion(stateDir: string): Region {
  const file = regionFile(stateDir);
  const name = existsSync(file) ? readFileSync(file, "utf8").trim() : "us";
  const region = REGIONS.find((each) => each === name);
  if (region === undefined) throw new CliError(`${file} does not name a region: ${name}`);
  return region;
}

/** Stores the region that a state folder belongs to. Throws a `CliError` when it has another region's data. */
export function keepRegion(stateDir: string, region: Region): void {
  const isUsed = existsSync(join(stateDir, "v3"));
  if (isUsed && stateRegion(stateDir) !== region) {
    const held = stateRegion(stateDir).toUpperCase();
    throw new CliError(
      `${stateDir} has the data of the ${held} region: give another folder with --state, or start it with REGION=${held.toLowerCase()}`,
    );
  }
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(regionFile(stateDir), `${region}\n`);
}

function regionFile(stateDir: string): string {
  return join(stateDir, "region");
}
