import { useEffect, useEffectEvent } from "react";

/** Calls back for a key that is pressed with Ctrl, or on a Mac with Command. */
export function useShortcut(key: string, callback: () => void): void {
  const onPressed = useEffectEvent(callback);
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== key) return;
      event.preventDefault();
      onPressed();
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, [key]);
}
