import type { ComponentProps, ReactNode } from "react";
import { Link } from "wouter";
import styles from "./button.module.css";

type Props = ComponentProps<"button"> & {
  kind?: "primary" | "plain" | "quiet" | "danger";
  size?: "m" | "s";
};

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

/** A link to the page where something is created, in the style of the main button. */
export function ButtonLink({ href, children }: { href: string; children: ReactNode }): ReactNode {
  return (
    <Link href={href} className={[styles.button, styles.primary, styles.m].join(" ")}>
      {children}
    </Link>
  );
}
