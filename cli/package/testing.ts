/** The module that the package exports as `threadworks/testing`. */
import "./node-20.ts";

export { startPlatform } from "../testing/start-test-platform.ts";
