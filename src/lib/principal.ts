/** Who a project's own authentication says is asking. Plain JSON. */
export type AuthUser = {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [extra: string]: unknown;
};

export type Principal = { user: AuthUser; permissions: string[] };
