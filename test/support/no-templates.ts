/** The suite in workerd deploys no template: four tarballs in one module are more than its socket takes. */
const templates: Record<string, string> = {};
export default templates;
