import type { AgentCard } from "@a2a-js/sdk";
import { isObject } from "../../lib/json.ts";
import type { Assistant } from "../assistants/assistant-json.ts";

const MODES = ["text/plain", "application/json"];

const BINDING = "JSONRPC";

/** Returns the agent card of an assistant; `url` is the address of its A2A endpoint. */
export function agentCard(assistant: Assistant, url: string): AgentCard {
  const { assistant_id, graph_id, name, version } = assistant;
  const description = assistant.description ?? `The assistant ${name}`;
  const told = isObject(assistant.metadata["a2a"]) ? assistant.metadata["a2a"] : {};
  const inputModes = modesOf(told["input_modes"]);
  const outputModes = modesOf(told["output_modes"]);
  const skill = { id: assistant_id, name, description, tags: [graph_id], examples: [] };
  return {
    name,
    description,
    version: String(version),
    supportedInterfaces: ["1.0", "0.3"].map((protocolVersion) => ({
      url,
      protocolBinding: BINDING,
      tenant: "",
      protocolVersion,
    })),
    provider: undefined,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [],
    },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: [{ ...skill, inputModes, outputModes, securityRequirements: [] }],
    signatures: [],
  };
}

/**
 * Returns the card for both families of clients: the older one reads these extra members instead of the
 * interfaces.
 */
export function toCardJson(assistant: Assistant, url: string): object {
  return {
    ...agentCard(assistant, url),
    protocolVersion: "0.3.0",
    url,
    preferredTransport: BINDING,
    supportsAuthenticatedExtendedCard: false,
  };
}

function modesOf(given: unknown): string[] {
  if (!Array.isArray(given)) return MODES;
  const modes = given.filter((mode) => typeof mode === "string");
  return modes.length > 0 ? modes : MODES;
}
