import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { evaluate } from "./arithmetic.ts";

const SKIES = ["sunny", "cloudy", "rainy", "windy", "foggy"] as const;
const COLDEST_CELSIUS = -5;
const CELSIUS_RANGE = 36;

const calculator = tool(({ expression }) => String(evaluate(expression)), {
  name: "calculator",
  description: "Evaluates an arithmetic expression with + - * / and parentheses.",
  schema: z.object({ expression: z.string().describe('For example "(3 + 4) * 5"') }),
});

const getWeather = tool(({ city }) => JSON.stringify({ city, ...weatherOf(city) }), {
  name: "get_weather",
  description: "Tells the weather of a city: always the same one for the same city.",
  schema: z.object({ city: z.string() }),
});

const currentTime = tool(
  ({ time_zone }) =>
    new Intl.DateTimeFormat("en-GB", {
      timeZone: time_zone,
      dateStyle: "full",
      timeStyle: "short",
    }).format(new Date()),
  {
    name: "current_time",
    description: "Tells the date and time in a time zone.",
    schema: z.object({ time_zone: z.string().describe('An IANA name such as "Europe/Paris"') }),
  },
);

export const tools = [calculator, getWeather, currentTime];

function weatherOf(city: string): { sky: string; celsius: number } {
  let hash = 0;
  for (const character of city.toLowerCase()) {
    hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  }
  return {
    sky: SKIES[hash % SKIES.length] ?? "sunny",
    celsius: COLDEST_CELSIUS + (hash % CELSIUS_RANGE),
  };
}
