/** The suite in workerd deploys no template: a module with four tarballs is more than its socket accepts. */
const templates: Record<string, string> = {};
export default templates;
