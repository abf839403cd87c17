/** The whole message that the runtime gives for an internal failure: a failed write to the disk, a host without address. */
export const UNEXPLAINED = /^internal error; reference = \w+$/;
