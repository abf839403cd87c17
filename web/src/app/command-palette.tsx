import { Dialog } from "@base-ui/react/dialog";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import styles from "./command-palette.module.css";
import { type Command, useCommands } from "./commands.ts";

type Props = { open: boolean; onOpenChange: (open: boolean) => void };

export function CommandPalette({ open, onOpenChange }: Props): ReactNode {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={styles.popup} aria-label="Search pages and commands">
          <Search onDone={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Search({ onDone }: { onDone: () => void }): ReactNode {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const commands = useCommands().filter((command) => matches(command, text));
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onDone();
    command.run();
  };

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && commands.length > 0) {
      event.preventDefault();
      setActive((active + step + commands.length) % commands.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(commands[active]);
    }
  }

  return (
    <>
      <input
        className={styles.input}
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={commands.length === 0 ? undefined : `command-${active}`}
        aria-label="Search pages and commands"
        placeholder="Go to a page, an agent, a project"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={styles.list} id="commands" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          <button
            type="button"
            key={command.id}
            id={`command-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className={styles.option}
            onMouseMove={() => setActive(index)}
            onClick={() => run(command)}
          >
            <span className={styles.area}>{command.area}</span> {command.name}
          </button>
        ))}
      </div>
      {commands.length === 0 ? <p className={styles.none}>Nothing matches.</p> : null}
    </>
  );
}

function matches({ name, area }: Command, text: string): boolean {
  const all = `${area} ${name}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
