/** The declarations of the standard library, keyed by file name. */
declare module "*/libraries.json" {
  const texts: Record<string, string>;
  export default texts;
}

/** The module of types that the schema reader compares graphs' types with. */
declare module "*/template.json" {
  const template: { text: string };
  export default template;
}
