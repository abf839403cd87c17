import templates from "#templates";
import type { Source } from "../../db/deployments-schema.ts";
import type { RevisionSource } from "../../db/revisions-repo.ts";
import { invalidField } from "../../lib/api-error.ts";
import type { RevisionConfig } from "./schemas.ts";

/** Projects that are shipped with the installation and can be deployed by name. */
/** The examples of this installation that can be deployed by their names. */
export const TEMPLATE_IDS: readonly string[] = Object.keys(templates);

/** What of a request says which source a revision has. */
type Given = { source: Source; templateId: string | null; config: RevisionConfig };

/** The source of a deployment's first revision. It throws a 422 where fields do not go together. */
export function firstSource({ source, templateId, config }: Given): RevisionSource {
  if (source === "internal_template") {
    checkTemplate(templateId);
    refuseTarball(config);
  } else if (templateId !== null) {
    throw ofTemplatesOnly();
  }
  return {
    source,
    template_id: templateId,
    source_tarball_path: config.source_tarball_path ?? null,
    langgraph_config_path: config.langgraph_config_path ?? null,
  };
}

/**
 * The source of a later revision: what is not given is as in the one before. A deployment may change between its
 * template and a project of its own. It throws a 422 where fields do not go together.
 */
export function nextSource(
  latest: RevisionSource,
  deployment: { templateId: string | null },
  { source = latest.source, config }: { source: Source | undefined; config: RevisionConfig },
): RevisionSource {
  if (source === "internal_template") {
    const { templateId } = deployment;
    if (templateId === null) {
      const message = "The deployment was not made of a template: its source is internal_source";
      throw invalidField(["body", "revision_source"], message, "value_error");
    }
    refuseTarball(config);
    return {
      source,
      template_id: templateId,
      source_tarball_path: null,
      langgraph_config_path: null,
    };
  }
  const before = latest.source === source ? latest : undefined;
  const tarball = config.source_tarball_path ?? before?.source_tarball_path ?? null;
  if (before === undefined && tarball === null) {
    const message = "Field required, as the revision before was made of a template";
    throw invalidField(
      ["body", "source_revision_config", "source_tarball_path"],
      message,
      "missing",
    );
  }
  return {
    source,
    template_id: null,
    source_tarball_path: tarball,
    langgraph_config_path: config.langgraph_config_path ?? before?.langgraph_config_path ?? null,
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

function refuseTarball(config: RevisionConfig): void {
  for (const field of ["source_tarball_path", "langgraph_config_path"] as const) {
    if (config[field] == null) continue;
    const message = "A template has no tarball: this is for source internal_source only";
    throw invalidField(["body", "source_revision_config", field], message, "value_error");
  }
}

function ofTemplatesOnly() {
  const message = "Only a deployment of source internal_template has a template";
  return invalidField(["body", "source_config", "template_id"], message, "value_error");
}

/** The tarball of a template, which is a built project; null for an unknown one. */
export function templateTarball(id: string): ArrayBuffer | null {
  const base64 = Object.hasOwn(templates, id) ? templates[id] : undefined;
  if (base64 === undefined) return null;
  const bytes = Buffer.from(base64, "base64");
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}
