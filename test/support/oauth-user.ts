type Answer = { url: string; status: number; location: string | null; html: string };

const MAX_PAGES = 20;

/**
 * Acts as a person with a browser: goes to the URL, logs in and gives consent at the provider's pages. Returns the
 * address to which the provider finally redirects, without requesting it.
 */
export async function consent(url: string, login: string): Promise<string> {
  return walk(url, (page) => submit(page, login));
}

/** Does the same for a person who cancels at the first page. */
export async function cancel(url: string): Promise<string> {
  return walk(url, ({ html, url: base }) => {
    const link = /href="([^"]+\/abort)"/.exec(html)?.[1];
    if (link === undefined) throw new Error(`No way to cancel on ${html}`);
    return { url: new URL(link, base).href };
  });
}

type Next = { url: string; form?: URLSearchParams };

async function walk(start: string, answer: (page: Answer) => Next): Promise<string> {
  const { origin } = new URL(start);
  const cookies = new Map<string, string>();
  let next: Next = { url: start };
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await open(next, cookies);
    if (page.location !== null) {
      next = { url: new URL(page.location, page.url).href };
      if (new URL(next.url).origin !== origin) return next.url;
    } else if (page.status === 200) {
      next = answer(page);
    } else {
      throw new Error(`${page.status} of ${page.url}: ${page.html}`);
    }
  }
  throw new Error(`No end of pages after ${start}`);
}

async function open({ url, form }: Next, cookies: Map<string, string>): Promise<Answer> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const response = await fetch(url, {
    redirect: "manual",
    headers: { cookie },
    ...(form === undefined ? {} : { method: "POST", body: form }),
  });
  for (const set of response.headers.getSetCookie()) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (value === "") cookies.delete(name);
    else cookies.set(name, value);
  }
  const { status, headers } = response;
  return { url, status, location: headers.get("location"), html: await response.text() };
}

function submit({ url, html }: Answer, login: string): Next {
  const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1];
  const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1];
  if (action === undefined || prompt === undefined) throw new Error(`No form on ${html}`);
  const form = new URLSearchParams({ prompt, login, password: "any" });
  return { url: new URL(action, url).href, form };
}
