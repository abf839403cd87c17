/** The suite in workerd deploys no template. */
const templates: readonly string[] = [];
export default templates;
