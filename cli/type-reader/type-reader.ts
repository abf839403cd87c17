import { WorkerEntrypoint } from "cloudflare:workers";
import type {
  DeclarationSource,
  ReadSchemas,
  TypeReaderApi,
  TypesRequest,
} from "../../src/lib/remote-types.ts";
import { readTypes } from "./read-types.ts";

type Env = { PACKAGES: DeclarationSource };

/** Reads the types of one project in a separate isolate. None of the project's code is run. */
export class TypeReader extends WorkerEntrypoint<Env> implements TypeReaderApi {
  read(request: TypesRequest): Promise<ReadSchemas> {
    return readTypes(request, this.env.PACKAGES);
  }
}

export default {};
