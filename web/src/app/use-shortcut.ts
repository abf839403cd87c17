import { useEffect, useEffectEvent } from "react";

/** Calls back when a key is pressed with Ctrl, or with Command on a Mac. */
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
