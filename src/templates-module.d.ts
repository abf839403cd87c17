/** What `#templates` exports: the tarballs of the examples, by the name of their folder, as base64. */
declare const templates: Record<string, string>;
export default templates;
