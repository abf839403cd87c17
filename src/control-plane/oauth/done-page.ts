/** The page's headers. It loads nothing from elsewhere, and has no scripts. */
export const DONE_PAGE_HEADERS: Record<string, string> = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto 0; padding: 0 1rem; }
`;

const COMPLETED = {
  title: "Connected",
  text: "The service is connected. You can close this page.",
};

const FAILED = {
  title: "Not connected",
  text: "The service could not be connected. You can close this page, and try again where you came from.",
};

/** The texts for errors that users can do something about. */
const FAILURE_TEXT: Readonly<Record<string, string>> = {
  access_denied: "Access was not granted. You can close this page.",
  invalid_state:
    "This link was used already, or is too old. You can close this page, and try again where you came from.",
  temporarily_unavailable:
    "The service does not answer. You can close this page, and try again later where you came from.",
};

/**
 * Renders the page with fixed texts only: anyone can make a link to the page and choose its query, which must not
 * determine what the page says.
 */
export function donePage(query: {
  status?: string | undefined;
  error?: string | undefined;
}): string {
  const { error = "" } = query;
  const own = Object.hasOwn(FAILURE_TEXT, error) ? FAILURE_TEXT[error] : undefined;
  const { title, text } =
    query.status === "completed" ? COMPLETED : { ...FAILED, text: own ?? FAILED.text };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p>${text}</p>
</body>
</html>
`;
}
