/** Serves the checkout in its argument, in a process that a test can kill. */
import { startPlatform } from "../../../../cli/serve.ts";
import { smallPlatformOptions } from "./small-platform-options.ts";

const folder = process.argv[2] ?? "";
const { url } = await startPlatform(smallPlatformOptions(folder));
process.send?.(url);
