/** The export of `#templates`: the names of the examples, whose tarballs are beside the console's files. */
declare const templates: readonly string[];
export default templates;
