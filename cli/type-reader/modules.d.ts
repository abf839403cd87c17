/** The declarations of the language's library, by their names. */
declare module "*/libraries.json" {
  const texts: Record<string, string>;
  export default texts;
}

/** The module of types that the reader of schemas compares those of graphs with. */
declare module "*/template.json" {
  const template: { text: string };
  export default template;
}
