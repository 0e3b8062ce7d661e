// From one person's events to what they add up to. Binding: `Person` in review/log/fold.py.
import { inOrder } from '../core/event.js';

/** @import {Event, Payload} from '../types.js' */

/** @param {string | undefined} kind */
export const decides = (kind) => kind === 'rate' || kind === 'cannot_judge' || kind === 'translate';
const RELATIONS = ['made', 'knows', 'neither'];

/** Takes events in the order of reading, withdrawn ones left out. An undo reaches its target wherever that is in the order. */
export class Person {
  constructor() {
    /** Item → its last decision that was not taken back, in the order in which those were made. @type {Map<string, Event>} */
    this.decided = new Map();
    /** Items put at the end and not decided since → the last time. @type {Map<string, Event>} */ this.skipped = new Map();
    /** Id → decision or skip that undo can take back, the next one last. @type {Map<string, Event>} */ this.acts = new Map();
    /** @type {Map<string, string>} */ this.trained = new Map();
    /** @type {Map<string, string[]>} */ this.reasons = new Map();
    /** @type {Map<string, string>} */ this.comments = new Map();
    /** @type {Map<string, string>} */ this.suggestions = new Map();
    /** @type {Map<string, boolean>} */ this.harmful = new Map();
    /** The last yes to the terms. @type {Payload | null} */ this.consent = null;
    /** @type {Map<string, Event[]>} */ this._ofItem = new Map();
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
      case 'skip': return this._act(event, said.item);
      case 'undo': return this._undo(said.target);
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

  /** @param {Event} event @param {string} item */
  _act(event, item) {
    if (this._undone.has(event.id)) return;
    this.acts.set(event.id, event);
    const ofItem = this._ofItem.get(item) ?? [];
    this._ofItem.set(item, ofItem);
    ofItem.push(event);
    if (decides(event.payload?.kind)) {
      this.skipped.delete(item);
      last(this.decided, item, event);
    } else if (!this.decided.has(item)) last(this.skipped, item, event);
  }

  /** Revoke one act about an item; what was there before holds in its old place. @param {string} target */
  _undo(target) {
    this._undone.add(target);
    const event = this.acts.get(target);
    if (!event) return;
    this.acts.delete(target);
    const item = event.payload?.item;
    const left = (this._ofItem.get(item) ?? []).filter((other) => other !== event);
    this._ofItem.set(item, left);
    const decision = left.findLast((other) => decides(other.payload?.kind));
    stand(this.decided, item, decision);
    stand(this.skipped, item, decision ? undefined : left.at(-1));
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

/** Set the event of an item, undefined for nothing; the events stay in the order of reading. @param {Map<string, Event>} events @param {string} item @param {Event | undefined} event */
function stand(events, item, event) {
  if (events.get(item) === event) return;
  events.delete(item);
  if (!event) return;
  const sorted = [...events.set(item, event)].sort(([, a], [, b]) => inOrder(a, b));
  events.clear();
  for (const [name, value] of sorted) events.set(name, value);
}
