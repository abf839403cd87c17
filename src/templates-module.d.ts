/** The export of `#templates`: the tarballs of the examples as base64, by the name of their folder. */
declare const templates: Record<string, string>;
export default templates;
