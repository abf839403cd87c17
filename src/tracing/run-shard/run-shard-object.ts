import { DurableObject } from "cloudflare:workers";

export class RunShardObject extends DurableObject<Env> {}
