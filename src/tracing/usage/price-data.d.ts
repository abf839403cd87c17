/** What scripts/price-list.mjs writes; its member `format` says what a line of `models` holds. */
declare const data: {
  source: string;
  license: string[];
  written_by: string;
  format: string;
  lists: { vendor: string; provider: string | null; models: string[] }[];
};
export default data;
