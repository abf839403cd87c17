import type { ReactNode } from "react";
import { parseJson } from "../../ui/parse-json.ts";
import styles from "./version-form.module.css";

export type JsonSchema = {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, JsonSchema>;
};

type Values = Record<string, unknown>;
type Props = { schema: JsonSchema; value: Values; onChange: (value: Values) => void };

/** A form field for each property of a JSON schema. Empty fields are left out of the value. */
export function SchemaFields({ schema, value, onChange }: Props): ReactNode {
  return Object.entries(schema.properties ?? {}).map(([name, property]) => (
    <label key={name} className={styles.field}>
      <span>{name}</span>
      <Field
        schema={property}
        value={value[name]}
        onChange={(next) => {
          const { [name]: _before, ...rest } = value;
          onChange(next === undefined ? rest : { ...rest, [name]: next });
        }}
      />
      {property.description === undefined ? null : <small>{property.description}</small>}
    </label>
  ));
}

type FieldProps = { schema: JsonSchema; value: unknown; onChange: (value: unknown) => void };

function Field({ schema, value, onChange }: FieldProps): ReactNode {
  if (schema.enum !== undefined) {
    return (
      <select
        value={value === undefined ? "" : JSON.stringify(value)}
        onChange={({ target }) =>
          onChange(target.value === "" ? undefined : parseJson(target.value))
        }
      >
        <option value="">not set</option>
        {schema.enum.map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {String(choice)}
          </option>
        ))}
      </select>
    );
  }
  const isText = schema.type === "string";
  if (schema.type === "boolean") {
    return (
      <input
        type="checkbox"
        checked={value === true}
        onChange={({ target }) => onChange(target.checked)}
      />
    );
  }
  if (schema.type === "number" || schema.type === "integer") {
    return (
      <input
        type="number"
        step={schema.type === "integer" ? 1 : "any"}
        min={schema.minimum}
        max={schema.maximum}
        value={typeof value === "number" ? value : ""}
        onChange={({ target }) => onChange(target.value === "" ? undefined : Number(target.value))}
      />
    );
  }
  return (
    <textarea
      rows={isText ? 3 : 2}
      value={textOf(value)}
      onChange={({ target }) => {
        if (target.value === "") onChange(undefined);
        else onChange(isText ? target.value : parseJson(target.value));
      }}
    />
  );
}

function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
