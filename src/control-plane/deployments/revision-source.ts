import templates from "#templates";
import type { DeploymentSource } from "../../db/deployments-schema.ts";
import type { RevisionSource } from "../../db/revisions-repo.ts";
import { invalidField } from "../../lib/api-error.ts";
import { readInstalledFile } from "../builds/installed-file.ts";
import { checkRepositoryUrl } from "./repository-url.ts";
import type { RevisionConfig } from "./schemas.ts";

/** The ids of the installation's example projects, which can be deployed by name. */
export const TEMPLATE_IDS: readonly string[] = templates;

/** The parts of a request that determine the source of a revision. */
type Given = {
  source: DeploymentSource;
  templateId: string | null;
  repoUrl: string | null;
  githubUrl: string;
  config: RevisionConfig;
};

/** The fields of each source's revisions. Other fields are refused. */
const FIELDS = {
  github: ["langgraph_config_path", "repo_ref"],
  internal_source: ["source_tarball_path", "langgraph_config_path"],
  internal_template: [],
} as const satisfies Record<DeploymentSource, readonly (keyof RevisionSource)[]>;

const OTHER_FIELDS: Readonly<Record<DeploymentSource, string>> = {
  github: "A repository has no tarball: this is for source internal_source only",
  internal_source: "A tarball has no branches: this is for source github only",
  internal_template: "A template has no tarball and no repository: this is for other sources",
};

const NOTHING = {
  template_id: null,
  source_tarball_path: null,
  langgraph_config_path: null,
  repo_ref: null,
  repo_commit_sha: null,
};

/** Returns the source of a deployment's first revision. Throws a 422 for fields that do not go together. */
export function firstSource(given: Given): RevisionSource {
  const { source, templateId, repoUrl, githubUrl, config } = given;
  if (source === "internal_template") checkTemplate(templateId);
  else if (templateId !== null) throw ofOneSource("template_id", "internal_template");
  if (source === "github") checkRepositoryUrl(repoUrl, githubUrl);
  else if (repoUrl !== null) throw ofOneSource("repo_url", "github");
  refuseOtherFields(source, config);
  if (source === "github" && config.langgraph_config_path == null) {
    const loc = ["body", "source_revision_config", "langgraph_config_path"];
    throw invalidField(loc, "Field required for source github", "missing");
  }
  return {
    ...NOTHING,
    source,
    template_id: templateId,
    source_tarball_path: config.source_tarball_path ?? null,
    langgraph_config_path: config.langgraph_config_path ?? null,
    repo_ref: config.repo_ref ?? null,
  };
}

/**
 * Returns the source of a later revision. Fields that are not given are taken from the revision before, but a
 * repository's ref is resolved again. A deployment may change between its template or repository and tarballs.
 * Throws a 422 for fields that do not go together.
 */
export function nextSource(
  latest: RevisionSource,
  deployment: { templateId: string | null; repoUrl: string | null },
  {
    source = latest.source,
    config,
  }: { source: DeploymentSource | undefined; config: RevisionConfig },
): RevisionSource {
  const { templateId, repoUrl } = deployment;
  if (source === "internal_template" && templateId === null) throw wasNotMadeOf("a template");
  if (source === "github" && repoUrl === null) throw wasNotMadeOf("a repository");
  refuseOtherFields(source, config);
  const before = latest.source === source ? latest : undefined;
  const kept = before ?? NOTHING;
  if (source === "internal_template") return { ...NOTHING, source, template_id: templateId };
  if (source === "github") {
    return {
      ...NOTHING,
      source,
      langgraph_config_path:
        config.langgraph_config_path ?? kept.langgraph_config_path ?? "langgraph.json",
      repo_ref: config.repo_ref ?? kept.repo_ref,
    };
  }
  const tarball = config.source_tarball_path ?? kept.source_tarball_path;
  if (before === undefined && tarball === null) {
    const message = "Field required, because the revision before has another source";
    throw invalidField(
      ["body", "source_revision_config", "source_tarball_path"],
      message,
      "missing",
    );
  }
  return {
    ...NOTHING,
    source,
    source_tarball_path: tarball,
    langgraph_config_path: config.langgraph_config_path ?? kept.langgraph_config_path,
  };
}

function checkTemplate(templateId: string | null): void {
  const loc = ["body", "source_config", "template_id"];
  if (templateId === null) {
    throw invalidField(loc, "Field required for source internal_template", "missing");
  }
  if (TEMPLATE_IDS.includes(templateId)) return;
  const names = TEMPLATE_IDS.map((id) => `'${id}'`).join(", ");
  throw invalidField(loc, `Input should be one of ${names}`, "enum");
}

function refuseOtherFields(source: DeploymentSource, config: RevisionConfig): void {
  const known: readonly string[] = FIELDS[source];
  for (const field of ["source_tarball_path", "langgraph_config_path", "repo_ref"] as const) {
    if (config[field] == null || known.includes(field)) continue;
    const loc = ["body", "source_revision_config", field];
    throw invalidField(loc, OTHER_FIELDS[source], "value_error");
  }
}

function ofOneSource(field: "template_id" | "repo_url", source: DeploymentSource) {
  const what = field === "template_id" ? "a template" : "a repository";
  const message = `Only a deployment of source ${source} has ${what}`;
  return invalidField(["body", "source_config", field], message, "value_error");
}

function wasNotMadeOf(what: string) {
  const message = `The deployment was not made of ${what}: its source is another one`;
  return invalidField(["body", "revision_source"], message, "value_error");
}

/** Returns the tarball of a template, which is a built project; null for an unknown template. */
export async function templateTarball(env: Env, id: string): Promise<ArrayBuffer | null> {
  return TEMPLATE_IDS.includes(id) ? readInstalledFile(env, `templates/${id}.tar.gz`) : null;
}
