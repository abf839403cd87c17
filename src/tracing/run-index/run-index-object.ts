import { DurableObject } from "cloudflare:workers";

export class RunIndexObject extends DurableObject<Env> {}
