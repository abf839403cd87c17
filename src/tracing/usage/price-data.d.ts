/** The output of scripts/price-list.mjs; `format` describes a line of `models`. */
declare const data: {
  source: string;
  license: string[];
  written_by: string;
  format: string;
  lists: { vendor: string; provider: string | null; models: string[] }[];
};
export default data;
