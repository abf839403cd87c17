/// <reference path="../../../../../worker-configuration.d.ts" />
