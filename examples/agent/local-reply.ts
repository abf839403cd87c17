import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";

export type PlannedToolCall = { name: string; args: Record<string, string> };
export type Reply = { text: string; toolCalls: PlannedToolCall[] };

const EXPRESSION = /[-(\d][-+*/().\d\s]*[-+*/][-+*/().\d\s]*[)\d]/;
/** Other ways to write an operator. */
const OPERATORS: [RegExp, string][] = [
  [/\b(?:times|multiplied by)\b|×|(?<=\d\s*)x(?=\s*\d)/gi, "*"],
  [/\bdivided by\b|÷/gi, "/"],
  [/\bplus\b/gi, "+"],
  [/\bminus\b|−/gi, "-"],
];
const CITIES =
  /\b(?:in|for|at|of)\s+(\p{Lu}[\p{L}'-]*(?:[ ]\p{Lu}[\p{L}'-]*)*(?:(?:,| and|, and)\s+\p{Lu}[\p{L}'-]*(?:[ ]\p{Lu}[\p{L}'-]*)*)*)/u;
const TIME_ZONE = /\b(?:UTC|[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+)\b/;
const NAME = /\bmy name is\s+(\p{L}[\p{L}'-]*)/iu;

/**
 * Returns the local model's reply. It is a pure function of the conversation, so that every run of the same
 * conversation gives the same words.
 */
export function planReply(messages: BaseMessage[], toolNames: ReadonlySet<string>): Reply {
  const lastHuman = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  const question = messages[lastHuman]?.text ?? "";
  const since = messages.slice(lastHuman + 1);
  const results = since.filter((message) => ToolMessage.isInstance(message));
  if (results.length > 0) {
    return {
      text: results.map((result) => describeResult(result, since)).join(" "),
      toolCalls: [],
    };
  }
  const toolCalls = planToolCalls(question).filter(({ name }) => toolNames.has(name));
  if (toolCalls.length > 0) return { text: "", toolCalls };
  return { text: answer(question, messages), toolCalls: [] };
}

function planToolCalls(question: string): PlannedToolCall[] {
  const calls: PlannedToolCall[] = [];
  const written = OPERATORS.reduce((text, [ways, sign]) => text.replace(ways, sign), question);
  const expression = EXPRESSION.exec(written)?.[0];
  if (expression !== undefined) {
    calls.push({ name: "calculator", args: { expression: expression.trim() } });
  }
  if (/\b(?:weather|forecast|temperature)\b/i.test(question)) {
    const cities = CITIES.exec(question)?.[1]?.split(/\s*,\s*(?:and\s+)?|\s+and\s+/) ?? ["Paris"];
    for (const city of cities) calls.push({ name: "get_weather", args: { city } });
  }
  if (/\b(?:what time|current time|time is it|today)\b/i.test(question)) {
    const time_zone = TIME_ZONE.exec(question)?.[0] ?? "UTC";
    calls.push({ name: "current_time", args: { time_zone } });
  }
  return calls;
}

function describeResult(result: ToolMessage, since: BaseMessage[]): string {
  const call = since
    .filter((message) => AIMessage.isInstance(message))
    .flatMap((message) => message.tool_calls ?? [])
    .find(({ id }) => id === result.tool_call_id);
  if (result.status === "error") return `I could not do that: ${result.text}`;
  switch (call?.name) {
    case "calculator":
      return `${String(call.args["expression"])} is ${result.text}.`;
    case "get_weather": {
      const { city, sky, celsius } = JSON.parse(result.text) as Record<string, unknown>;
      return `It is ${String(sky)} in ${String(city)}, at ${String(celsius)} degrees Celsius.`;
    }
    case "current_time":
      return `It is ${result.text} (${String(call.args["time_zone"])}).`;
    default:
      return `The tool answered: ${result.text}`;
  }
}

function answer(question: string, messages: BaseMessage[]): string {
  const told = messages
    .filter((message) => HumanMessage.isInstance(message))
    .map((message) => NAME.exec(message.text)?.[1])
    .findLast((name) => name !== undefined);
  if (/\b(?:your instructions|system prompt)\b/i.test(question)) {
    const prompt = messages.find((message) => message.type === "system");
    return `My instructions are: ${prompt?.text ?? "none"}`;
  }
  if (/\b(?:what is|what's) my name\b|\bwho am i\b/i.test(question)) {
    return told === undefined ? "You have not told me your name yet." : `Your name is ${told}.`;
  }
  if (NAME.test(question)) return `Nice to meet you, ${told}. I will remember your name.`;
  return (
    `You said: "${question}". I am a small local model that runs without any key. ` +
    "Ask me to calculate something, for the weather in a city, or what time it is."
  );
}
