/** Writes the files that the bundler of components reads besides its code to the paths where it expects them. */
import uiFiles from "./ui-files.json";
import { files } from "../node-fs.ts";

const encoder = new TextEncoder();
for (const [path, text] of Object.entries(uiFiles)) files.write(path, encoder.encode(text));
