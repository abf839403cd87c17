const WORDS =
  `agreement answer approve average balance before between branch budget calendar carrier catalog
  channel check claim clause collect column commit compare confirm contract customer damaged deliver deposit detail
  discount dispatch document estimate evidence exchange expire explain export feature figure final forward freight
  garage guarantee handle harbour history import include index inform inspect insure invoice journal journey keep
  label ledger letter limit locate machine manual market measure member message minute missing module monthly
  morning notice number object office option order original packet paper partner payment pending period person
  policy portal premium problem process product promise proof quality quarter question quote receipt reduce refund
  register regular reject release remind remove renew repair replace report request reserve resolve result return
  review route sample schedule season section select serial service settle shipment signal simple source standard
  station status storage subject summary supplier support surcharge system target temporary terminal ticket total
  tracking transfer travel treaty trial update urgent vehicle verify voucher warehouse warranty weekly window`
    .split(/\s+/)
    .map((word) => word.trim());

/** Text that is the same in every run of a benchmark, and compresses about as well as real text. */
export class Prose {
  #state: number;

  constructor(seed: number) {
    this.#state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x85ebca6b) >>> 0;
  }

  /** Returns words with at least `chars` characters in all. */
  text(chars: number): string {
    let text = "";
    while (text.length < chars) {
      const word = WORDS[this.below(WORDS.length)] ?? "";
      text += this.below(12) === 0 ? `${word}. ` : `${word} `;
    }
    return text.trimEnd();
  }

  /** Returns a whole number that is at least 0 and below `limit`. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}
