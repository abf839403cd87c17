/** Reads a file that the installation has beside the console's files, such as the code of the builder. */
export async function readInstalledFile(env: Env, path: string): Promise<ArrayBuffer> {
  const response = await env.CONSOLE.fetch(new URL(path, "https://console/"));
  if (!response.ok) throw new Error(`The installation has no ${path}: run npm run build`);
  return response.arrayBuffer();
}
