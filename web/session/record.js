// What one person's sitting keeps: events, drafts, and what both add up to. Binding: review/session/record.py.
import { sha256 } from '../core/bytes.js';
import { cut, storable, strip } from '../core/text.js';
import { MOST_TEXT } from './laptop.js';
import { FIELD_OF, KIND_OF, SittingProgress, ownEvents } from './progress.js';

/** @import {Draft, Payload, TextField} from '../types.js' */
/** @import {Laptop} from './laptop.js' */
/** @typedef {Map<TextField, string>} Texts */

/** What is typed and not saved, as the person sees it: on the disk, or only here while the disk refuses it. */
export class Drafts {
  /** @param {Laptop} laptop @param {[batch: string, reviewer: string]} place */
  constructor(laptop, place) {
    this._laptop = laptop;
    this._place = place;
    this.reload();
  }

  /** Read what is on the disk: something was erased there. */
  reload() {
    /** @type {Map<string, Texts>} */ this._texts = new Map();
    /** What the disk did not take yet. @type {Map<string, Draft>} */ this._notKept = new Map();
    for (const { item, field, text } of this._laptop.drafts(...this._place))
      this._texts.set(item, (this._texts.get(item) ?? new Map()).set(/** @type {TextField} */ (field), text));
  }

  /** @param {string} item @returns {Texts} */
  of(item) { return this._texts?.get(item) ?? new Map(); }

  /** The items about which something is typed and not saved; an emptied translation is nothing. @returns {Map<string, TextField[]>} */
  items() {
    const named = [...(this._texts ?? [])].map(([item, texts]) => {
      const fields = [...texts.keys()].filter((field) => field !== 'translation' || strip(texts.get(field) ?? '') !== '');
      return /** @type {const} */ ([item, fields.sort()]);
    });
    return new Map(named.filter(([, fields]) => fields.length));
  }

  /** Store what is being typed, nothing where it is saved as it is; rejects with NotSaved, and holds it all the same. @param {string} item @param {TextField} field @param {string} text @param {string} saved */
  async keep(item, field, text, saved) {
    const typed = storable(text);
    this._hold({ item, field, text: strip(typed) === saved ? null : cut(typed, MOST_TEXT) });
    await this.keepHeld();
  }

  async keepHeld() {
    if (!this._notKept?.size) return;
    await this._laptop.saveDrafts(this._place, this._notKept.values());
    this._notKept = new Map();
  }

  /** Changes together with what the disk did not take yet. @param {Draft[]} changes */
  withHeld(changes) {
    const all = new Map(this._notKept);
    for (const change of changes) all.set(`${change.item} ${change.field}`, change);
    return [...all.values()];
  }

  /** Apply what was written, with everything that was held. @param {Draft[]} changes */
  changed(changes) {
    for (const change of changes) this._hold(change);
    this._notKept = new Map();
  }

  /** @param {Draft} draft */
  _hold(draft) {
    const texts = this.of(draft.item);
    const known = texts.get(draft.field) ?? null;
    texts.delete(draft.field);
    if (draft.text !== null) texts.set(draft.field, draft.text);
    if (texts.size) this._texts?.set(draft.item, texts);
    else this._texts?.delete(draft.item);
    if (draft.text !== known) this._notKept?.set(`${draft.item} ${draft.field}`, draft);
  }
}

/** One person's part of one batch on this device, at one face. */
export class Record {
  /** @param {Laptop} laptop @param {{batch: string, reviewer: string, order: string[], face: string, version: string, now: () => Date}} facts */
  constructor(laptop, { batch, reviewer, order, face, version, now }) {
    this._laptop = laptop;
    this._batch = batch;
    this.reviewer = reviewer;
    this._order = order;
    this._look = { face, version };
    this._now = now;
    this._began = false;
    this.drafts = new Drafts(laptop, [batch, reviewer]);
    this.progress = this._read();
  }

  /** Make events and changes of drafts durable, all or none; before the first event of a sitting goes that it began. @param {Payload[]} payloads @param {Draft[]} drafts @param {string} language */
  async keep(payloads, drafts, language) {
    const begins = !this._began && payloads.some(({ kind }) => kind !== 'consent' && kind !== 'withdraw');
    const all = begins ? [this.began(language), ...payloads] : payloads;
    const changes = this.drafts.withHeld(drafts);
    const events = await this._laptop.record(all, [this._batch, this.reviewer], changes);
    this._began ||= begins;
    this.drafts.changed(changes);
    for (const event of events) this.progress.add(event);
  }

  /** Read what is on the disk: something was erased there, or noted by another. */
  reread() {
    this.progress = this._read();
    this.drafts.reload();
  }

  _read() {
    const { _batch: batch, reviewer } = this;
    return new SittingProgress(ownEvents(this._laptop.events, batch, reviewer), batch, reviewer, this._order);
  }

  // the fields of events

  /** The time as events write it: UTC, whole seconds. */
  wall() { return `${this._now().toISOString().slice(0, 19)}Z`; }

  who() { return { wall: this.wall(), reviewer: this.reviewer, batch: this._batch }; }

  /** @param {string} item */
  about(item) { return { ...this.who(), item }; }

  /** @param {string} item @param {{active_ms: number, font: string | null, override: boolean}} facts */
  decided(item, facts) { return { ...this.about(item), position: this._order.indexOf(item), ...this._look, ...facts }; }

  /** Yes to a consent text. @param {string} text @param {string} language @param {boolean} shares @param {string | null} textLanguage null where the batch has one text @returns {Payload} */
  agreed(text, language, shares, textLanguage) {
    const shown = textLanguage === null ? {} : { text_language: textLanguage };
    return { kind: 'consent', ...this.who(), consent_sha256: sha256(text), language, share_corrections: shares, ...shown };
  }

  /** @param {string} language @returns {Payload} */
  began(language) {
    return { kind: 'session', ...this.who(), order_sha256: sha256(this._order.join('\n')), ...this._look, language };
  }

  // what is written beside an answer

  /** What is typed beside an item's answer as it is to be saved, and the drafts that are over then. @param {string} item */
  typedAbout(item) {
    const typed = [...this.drafts.of(item)].filter(([field]) => field in KIND_OF);
    /** @type {Payload[]} */ const texts = [];
    for (const [field, text] of typed) {
      const kind = /** @type {'comment' | 'suggest'} */ (KIND_OF[field]);
      if (strip(text) !== this.progress.written(item, field)) texts.push({ kind, ...this.about(item), text: strip(text) });
    }
    return { texts, drafts: typed.map(([field]) => /** @type {Draft} */ ({ item, field, text: null })) };
  }

  /** What goes with a decision that is taken back: its reasons, and texts that it saved are drafts again. @param {string} target @param {Payload} decision */
  undoneBeside(target, { kind, item }) {
    /** @type {Payload[]} */ const beside = [];
    /** @type {Draft[]} */ const drafts = [];
    if (kind === 'skip') return { beside, drafts };
    const about = this.about(item);
    if (this.progress.person.reasons.has(item)) beside.push({ kind: 'reasons', ...about, reasons: [] });
    for (const [text, before] of this.progress.replaced(item, this._laptop.savedWith(target))) {
      beside.push({ kind: text.kind, ...about, text: before });
      const field = /** @type {TextField} */ (FIELD_OF[text.kind]);
      if (!this.drafts.of(item).has(field)) drafts.push({ item, field, text: text.text });
    }
    return { beside, drafts };
  }
}
