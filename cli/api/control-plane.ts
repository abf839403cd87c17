import type { z } from "zod";
import { CliError } from "../cli-error.ts";
import type { HttpClient, HttpRequest } from "./http-client.ts";
import type { FetchLogs } from "./log-reader.ts";
import { RequestFailure } from "./request-failure.ts";
import {
  deployment,
  deploymentPage,
  logPage,
  revision,
  revisionPage,
  uploadTarget,
  type Deployment,
  type Revision,
  type UploadTarget,
} from "./schemas.ts";

const PAGE_SIZE = 100;
const UPLOAD_TIMEOUT_MS = 300_000;

export type Secret = { name: string; value: string };

export type SourceRevision = { source_tarball_path: string; langgraph_config_path: string };

export type NewDeployment = {
  name: string;
  source: "internal_source";
  source_config: { deployment_type: string };
  source_revision_config: SourceRevision;
  secrets: Secret[];
};

export type DeploymentChange = {
  revision_source: "internal_source";
  source_revision_config: SourceRevision;
  secrets: Secret[];
};

/**
 * A client of a platform's control plane, with the operations that the commands need. Every method throws a
 * `CliError`.
 */
export class ControlPlane {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  get url(): string {
    return this.#http.url;
  }

  /** Requests a place to upload a tarball to, which does not belong to a deployment yet. */
  async createUpload(): Promise<UploadTarget> {
    return this.#ask({ method: "POST", path: "/v2/deployments/upload-url" }, uploadTarget);
  }

  async upload({ upload_url }: UploadTarget, tarball: Uint8Array): Promise<void> {
    await this.#http.upload(upload_url, tarball, UPLOAD_TIMEOUT_MS);
  }

  async createDeployment(json: NewDeployment): Promise<Deployment> {
    return this.#ask({ method: "POST", path: "/v2/deployments", json }, deployment);
  }

  async changeDeployment(id: string, json: DeploymentChange): Promise<Deployment> {
    return this.#ask({ method: "PATCH", path: deploymentPath(id), json }, deployment);
  }

  async getDeployment(id: string): Promise<Deployment> {
    return this.#ask({ method: "GET", path: deploymentPath(id) }, deployment);
  }

  /** Returns undefined when the deployment does not exist, or no longer exists. */
  async findDeployment(id: string): Promise<Deployment | undefined> {
    try {
      return await this.getDeployment(id);
    } catch (error) {
      if (error instanceof RequestFailure && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Returns the deployment with exactly this name. */
  async findDeploymentByName(name: string): Promise<Deployment | undefined> {
    for await (const found of this.listDeployments(name)) {
      if (found.name === name) return found;
    }
    return undefined;
  }

  async *listDeployments(nameContains?: string): AsyncGenerator<Deployment> {
    const query = { name_contains: nameContains };
    yield* this.#pages({ path: "/v2/deployments", query }, deploymentPage);
  }

  async *listRevisions(deploymentId: string): AsyncGenerator<Revision> {
    yield* this.#pages({ path: `${deploymentPath(deploymentId)}/revisions` }, revisionPage);
  }

  async getRevision(deploymentId: string, id: string): Promise<Revision> {
    const path = `${deploymentPath(deploymentId)}/${revisionPath(id)}`;
    return this.#ask({ method: "GET", path }, revision);
  }

  async deleteDeployment(id: string, options: { deletesTracingProject: boolean }): Promise<void> {
    const query = options.deletesTracingProject ? { delete_tracing_project: true } : {};
    await this.#http.request({ method: "DELETE", path: deploymentPath(id), query });
  }

  /** Returns a reader of the log of a revision's build. */
  buildLogs(deploymentId: string, revisionId: string): FetchLogs {
    return this.#logs(`${projectPath(deploymentId)}/${revisionPath(revisionId)}/build_logs`);
  }

  /** Returns a reader of the log of one revision's deployment, or of those of all revisions. */
  deployLogs(deploymentId: string, revisionId?: string): FetchLogs {
    const revision = revisionId === undefined ? "" : `/${revisionPath(revisionId)}`;
    return this.#logs(`${projectPath(deploymentId)}${revision}/deploy_logs`);
  }

  #logs(path: string): FetchLogs {
    return (json) => this.#ask({ method: "POST", path, json, onlyReads: true }, logPage);
  }

  async #ask<T>(request: HttpRequest, schema: z.ZodType<T>): Promise<T> {
    const answer = schema.safeParse(await this.#http.request(request));
    if (answer.success) return answer.data;
    const [issue] = answer.error.issues;
    const place = issue === undefined || issue.path.length === 0 ? "" : ` ${issue.path.join(".")}:`;
    throw new CliError(
      `${request.method} ${request.path} returned a response that this version does not understand:${place} ${issue?.message}`,
    );
  }

  async *#pages<T>(
    request: Pick<HttpRequest, "path" | "query">,
    schema: z.ZodType<{ resources: T[] }>,
  ): AsyncGenerator<T> {
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const query = { ...request.query, limit: PAGE_SIZE, offset };
      const { resources } = await this.#ask({ method: "GET", ...request, query }, schema);
      yield* resources;
      if (resources.length < PAGE_SIZE) return;
    }
  }
}

function deploymentPath(id: string): string {
  return `/v2/deployments/${encodeURIComponent(id)}`;
}

/** Logs are found under the paths of the first version of the API. */
function projectPath(id: string): string {
  return `/v1/projects/${encodeURIComponent(id)}`;
}

function revisionPath(id: string): string {
  return `revisions/${encodeURIComponent(id)}`;
}
