// From one person's events to what they add up to. Binding: `Person` in review/log/fold.py.

/** @import {Event, Payload} from '../types.js' */
/** @typedef {{decided: Map<string, Event>, skipped: Map<string, Event>}} Sum item → event */

/** @param {string | undefined} kind */
export const decides = (kind) => kind === 'rate' || kind === 'cannot_judge' || kind === 'translate';
const RELATIONS = ['made', 'knows', 'neither'];

/** Takes events in the order of reading, withdrawn ones left out. An undo reaches its target wherever that is in the order. */
export class Person {
  constructor() {
    /** Id → decision or skip that undo can take back, the next one last. @type {Map<string, Event>} */ this.acts = new Map();
    /** What those add up to; null where it is to be computed. @type {Sum | null} */ this._sum = null;
    /** @type {Map<string, string>} */ this.trained = new Map();
    /** @type {Map<string, string[]>} */ this.reasons = new Map();
    /** @type {Map<string, string>} */ this.comments = new Map();
    /** @type {Map<string, string>} */ this.suggestions = new Map();
    /** @type {Map<string, boolean>} */ this.harmful = new Map();
    /** The last yes to the terms. @type {Payload | null} */ this.consent = null;
    this._undone = new Set();
    /** @type {Map<string, Payload>} */ this._consents = new Map();
    /** @type {Map<string, string>} */ this._relations = new Map();
  }

  /** @param {Event} event */
  add(event) {
    const said = event.payload;
    switch (said?.kind) {
      case 'rate':
      case 'cannot_judge':
      case 'translate':
      case 'skip':
        this._sum = null;
        return this._undone.has(event.id) || this.acts.set(event.id, event);
      case 'undo':
        this._sum = null;
        this._undone.add(said.target);
        return this.acts.delete(said.target);
      case 'consent':
        this.consent = said;
        return this._consents.set(event.device, said);
      case 'relation': return this._relations.set(event.device, said.relation);
      case 'train': return this.trained.set(said.item, said.rating);
      case 'reasons': return keep(this.reasons, said.item, said.reasons, said.reasons.length > 0);
      case 'comment': return keep(this.comments, said.item, said.text, said.text !== '');
      case 'suggest': return keep(this.suggestions, said.item, said.text, said.text !== '');
      case 'harm': return keep(this.harmful, said.item, true, said.harmful);
    }
  }

  /** Item → its last decision that was not taken back, in the order in which those were made. */
  get decided() { return this._added().decided; }

  /** Items put at the end and not decided since → the last time. */
  get skipped() { return this._added().skipped; }

  _added() {
    if (this._sum) return this._sum;
    /** @type {Sum} */ const { decided, skipped } = (this._sum = { decided: new Map(), skipped: new Map() });
    for (const event of this.acts.values()) {
      const item = event.payload?.item;
      if (decides(event.kind)) {
        skipped.delete(item);
        last(decided, item, event);
      } else if (!decided.has(item)) last(skipped, item, event);
    }
    return this._sum;
  }

  get consented() { return this._consents.size > 0; }

  /** Whether what the person writes may be used, by the last word on every device. */
  get shareCorrections() { return this.consented && [...this._consents.values()].every((consent) => consent.share_corrections); }

  /** The nearest of the last words on each device; undefined where the person was not asked. */
  get relation() {
    const said = [...this._relations.values()];
    return RELATIONS.find((relation) => said.includes(relation));
  }

  /** The rating of an item or why there is none, undefined where neither was said. @param {string} item */
  judgement(item) {
    const said = this.decided.get(item)?.payload;
    return said?.kind === 'rate' || said?.kind === 'cannot_judge' ? said : undefined;
  }

  /** The translation of an item, empty where its last decision is none. @param {string} item @returns {string} */
  translation(item) {
    const said = this.decided.get(item)?.payload;
    return said?.kind === 'translate' ? said.text : '';
  }
}

/** Store the last word about an item; something empty takes back what was there. @template T @param {Map<string, T>} map @param {string} item @param {T} value @param {boolean} given */
function keep(map, item, value, given) {
  if (given) map.set(item, value);
  else map.delete(item);
}

/** @param {Map<string, Event>} events @param {string} item @param {Event} event */
function last(events, item, event) {
  events.delete(item);
  events.set(item, event);
}
