import { createRouter } from "../../../http/router.ts";
import { runV2Routes } from "./runs-routes.ts";
import { shareV2Routes } from "./share-routes.ts";
import { threadV2Routes } from "./threads-routes.ts";
import { traceV2Routes } from "./traces-routes.ts";

export { publicV2Routes } from "./public-routes.ts";

/** The newer query routes: what is selected is what is answered, and errors are problem details. */
export const tracingV2Routes = createRouter();

for (const routes of [runV2Routes, traceV2Routes, threadV2Routes, shareV2Routes]) {
  tracingV2Routes.route("/", routes);
}
