import type { ComponentProps, ReactNode } from "react";
import styles from "./button.module.css";

type Props = ComponentProps<"button"> & { kind?: "primary" | "plain" | "quiet"; size?: "m" | "s" };

export function Button({
  kind = "plain",
  size = "m",
  type = "button",
  className = "",
  ...rest
}: Props): ReactNode {
  const classes = [styles.button, styles[kind], styles[size], className].join(" ");
  return <button type={type} className={classes} {...rest} />;
}
