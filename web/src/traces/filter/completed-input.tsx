import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { knownValuesQuery } from "../../api/known-values.ts";
import { useTracing } from "../../api/tracing.ts";
import { type Completion, completionsAt, type KnownValues } from "./completions.ts";
import styles from "./filter-field.module.css";

const NOTHING_KNOWN: KnownValues = { fields: {}, metadata: {} };

type Props = {
  projectId: string;
  text: string;
  isWrong: boolean;
  describedBy: string;
  onText: (text: string) => void;
};

/** An input for a filter that suggests what can come next: functions, fields, and values that runs have. */
export function CompletedInput({
  projectId,
  text,
  isWrong,
  describedBy,
  onText,
}: Props): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState<number | null>(null);
  const [wasUsed, setUsed] = useState(false);
  const tracing = useTracing();
  // The values are only loaded once the input is used.
  const known = useQuery({ ...knownValuesQuery(tracing, projectId), enabled: wasUsed });
  const { from, to, options } = completionsAt(text, caret, known.data ?? NOTHING_KNOWN);
  const isShown = isOpen && options.length > 0;

  function take({ insert }: Completion): void {
    const next = text.slice(0, from) + insert + text.slice(to);
    const at = from + insert.length;
    onText(next);
    setCaret(at);
    setActive(null);
    requestAnimationFrame(() => input.current?.setSelectionRange(at, at));
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!isShown) {
      if (event.key === "ArrowDown") setOpen(true);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const start = active ?? (step > 0 ? -1 : options.length);
      setActive((start + step + options.length) % options.length);
    } else if (event.key === "Escape") {
      event.preventDefault();
      setOpen(false);
    } else if (event.key === "Tab" || event.key === "Enter") {
      // Enter submits the filter unless a completion is selected; Tab takes the first completion.
      const chosen = options[active ?? (event.key === "Tab" && !event.shiftKey ? 0 : -1)];
      if (chosen === undefined) return;
      event.preventDefault();
      take(chosen);
    }
  }

  return (
    <div className={styles.field}>
      <input
        ref={input}
        role="combobox"
        aria-label="Filter"
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls="filter-completions"
        aria-activedescendant={isShown && active !== null ? `completion-${active}` : undefined}
        spellCheck={false}
        autoComplete="off"
        placeholder={'and(eq(status, "error"), gt(latency, "2s"))'}
        value={text}
        onChange={({ target }) => {
          onText(target.value);
          setCaret(target.selectionStart ?? target.value.length);
          setActive(null);
          setOpen(true);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        onFocus={() => setUsed(true)}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <div
        id="filter-completions"
        className={styles.options}
        role="listbox"
        aria-label="Completions"
        hidden={!isShown}
      >
        {options.map((option, index) => (
          <Option
            key={option.insert}
            option={option}
            id={`completion-${index}`}
            isActive={index === active}
            onTake={() => take(option)}
          />
        ))}
      </div>
    </div>
  );
}

type OptionProps = { option: Completion; id: string; isActive: boolean; onTake: () => void };

function Option({ option: { label, hint }, id, isActive, onTake }: OptionProps): ReactNode {
  return (
    <div
      id={id}
      className={styles.option}
      role="option"
      aria-selected={isActive}
      // The input keeps the focus, because otherwise the list would close before the click.
      onPointerDown={(event) => {
        event.preventDefault();
        onTake();
      }}
    >
      <span>{label}</span>
      <span className={styles.hint}>{hint}</span>
    </div>
  );
}
