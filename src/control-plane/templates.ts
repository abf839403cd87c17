/** The examples that deployments can be made of by `template_id`. */
export const TEMPLATE_IDS: string[] = ["agent", "approval"];
