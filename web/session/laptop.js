// Everything that is kept on this device, in memory, with each change durable before it counts. Binding: review/log/laptop.py.
import { hex } from '../core/bytes.js';
import { covered, erased, makeEvent, reached, readEvent, record, withdrawals } from '../core/event.js';
import { length } from '../core/text.js';
import { decides } from './fold.js';
import { Refused } from './troubles.js';

/** @import {Change, Draft, DraftChange, Event, Payload} from '../types.js' */
/**
 * @typedef {{random: import('../core/bytes.js').Random, append: (change: Change) => Promise<void>, rewrite: (change: Change) => Promise<void>}} Store
 *   `append` resolves when the change is durable; `rewrite` replaces all changes by one, and leaves nothing of them. Both reject with NotSaved.
 */

export const MOST_TEXT = 4000;

/** @param {DraftChange} draft */ const key = (draft) => draft.slice(0, 4).join(' ');

export class Laptop {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    /** Called after each change that is durable. */ this.kept = () => {};
    this.device = '';
    this.identity = { seed: '', age: '' };
    /** In the order of writing. @type {Event[]} */ this.events = [];
    /** Event → its place in `events`. @type {Map<string, number>} */ this._at = new Map();
    /** @type {Map<string, DraftChange>} */ this._drafts = new Map();
    /** Event of a comment or a better wording → event of the answer that saved it. @type {Map<string, string>} */
    this._savedWith = new Map();
    /** @type {Map<string, string>} */ this._settings = new Map();
    this._withdrawn = withdrawals([]);
    this._lamport = 0;
    /** The last event of this device. @type {Event | null} */ this._last = null;
    /** What the next change has to bring along: device and keys, where no change has them. @type {Change} */ this._first = {};
    /** @type {Promise<unknown>} */ this._turn = Promise.resolve();
  }

  /** Read what was given to the store before, in that order; throws Error where it was changed. @param {Change[]} changes @param {Store} store */
  static replay(changes, store) {
    const laptop = new Laptop(store);
    for (const change of changes) laptop._apply(change);
    if (!laptop.device) {
      const [device, seed, age] = [8, 32, 32].map((count) => hex(store.random(count)));
      laptop._first = /** @type {Change} */ ({ device, identity: laptop.identity.seed ? laptop.identity : { seed, age } });
      laptop._apply(laptop._first);
    }
    return laptop;
  }

  /**
   * Write what happened as the next events of this device, and change drafts: all of it, or nothing.
   * @param {Payload[]} payloads @param {[batch: string, reviewer: string]} place @param {Iterable<Draft>} drafts @returns {Promise<Event[]>}
   */
  record(payloads, place = ['', ''], drafts = []) {
    return this._next(async () => {
      for (const payload of payloads) this._refuseTakenBack(payload);
      const events = this._made(payloads);
      const answers = new Map(events.filter(({ kind }) => decides(kind)).map(({ id, payload }) => [payload?.item, id]));
      /** @type {[string, string][]} */ const savedWith = [];
      for (const { id, kind, payload } of events) {
        const answer = answers.get(payload?.item);
        if ((kind === 'comment' || kind === 'suggest') && answer) savedWith.push([id, answer]);
      }
      await this._keep({ events: events.map(record), saved_with: savedWith, drafts: this._changed(place, drafts) });
      return events;
    });
  }

  /** @param {[batch: string, reviewer: string]} place @param {Iterable<Draft>} drafts @returns {Promise<void>} */
  saveDrafts(place, drafts) { return this._next(() => this._keep({ drafts: this._changed(place, drafts) })); }

  /** What a person was typing in a batch and did not save. @param {string} batch @param {string} reviewer @returns {{item: string, field: string, text: string | null}[]} */
  drafts(batch, reviewer) {
    const own = [...this._drafts.values()].filter((draft) => draft[0] === batch && draft[1] === reviewer);
    return own.map(([, , item, field, text]) => ({ item, field, text }));
  }

  /** The events of the texts that an answer saved. @param {string} answer */
  savedWith(answer) { return new Set([...this._savedWith].filter(([, saved]) => saved === answer).map(([text]) => text)); }

  /** @param {string} name */
  setting(name) { return this._settings.get(name) ?? null; }

  /** Change a setting; null forgets it. @param {string} name @param {string | null} value @returns {Promise<void>} */
  setSetting(name, value) { return this._next(() => this._keep({ settings: { [name]: value } })); }

  /** One change that equals all before; for one person, without what others said and wrote here. @param {string | null} person @returns {Change} */
  snapshot(person = null) {
    const isOthers = (/** @type {string | undefined} */ reviewer) => person !== null && reviewer !== undefined && reviewer !== person;
    return {
      device: this.device,
      identity: this.identity,
      events: this.events.map((event) => record(isOthers(event.payload?.reviewer) ? erased(event) : event)),
      drafts: [...this._drafts.values()].filter(([, reviewer]) => !isOthers(reviewer)),
      saved_with: [...this._savedWith],
      settings: Object.fromEntries(this._settings),
    };
  }

  /** Add what another store of this person has; this one's device and newer drafts stay. @param {Change} snapshot @returns {Promise<void>} */
  absorb(snapshot) {
    return this._next(async () => {
      const drafts = (snapshot.drafts ?? []).filter((draft) => !this._drafts.has(key(draft)));
      const { device, ...rest } = { ...snapshot, drafts, settings: { ...snapshot.settings, ...Object.fromEntries(this._settings) } };
      const both = Laptop.replay([this.snapshot(), rest], this.store);
      await this.store.rewrite(both.snapshot());
      this._become(both);
    });
  }

  /** @template T @param {() => Promise<T>} act @returns {Promise<T>} */
  _next(act) {
    const turn = this._turn.then(act);
    this._turn = turn.catch(() => undefined);
    return turn;
  }

  /** @param {Payload[]} payloads */
  _made(payloads) {
    let [last, lamport] = [this._last, this._lamport];
    return payloads.map((payload) => {
      const place = { device: this.device, seq: last ? last.seq + 1 : 0, lamport: ++lamport, prev: last?.id ?? '' };
      last = makeEvent(payload, { ...place, salt: hex(this.store.random(16)) });
      return last;
    });
  }

  /** @param {[batch: string, reviewer: string]} place @param {Iterable<Draft>} drafts @returns {Change['drafts']} */
  _changed(place, drafts) {
    return Array.from(drafts, ({ item, field, text }) => {
      if (text !== null && (length(text) > MOST_TEXT || !text.isWellFormed())) throw new Refused(`A text has at most ${MOST_TEXT} characters.`);
      return [...place, item, field, text];
    });
  }

  /** Make a change durable, then count it; one that withdraws leaves nothing of what it reaches. @param {Change} change */
  async _keep(change) {
    const whole = { ...this._first, ...change };
    if (change.events?.some(({ payload }) => payload?.kind === 'withdraw')) {
      const after = Laptop.replay([this.snapshot(), whole], this.store);
      await this.store.rewrite(after.snapshot());
      this._become(after);
    } else {
      await this.store.append(whole);
      this._apply(change);
    }
    this._first = {};
    this.kept();
  }

  /** @param {Laptop} other */
  _become({ store, kept, _first, _turn, ...state }) { Object.assign(this, state); }

  /** @param {Payload} payload */
  _refuseTakenBack({ kind, reviewer, batch }) {
    if (reached(kind, reviewer, batch ?? null, this._withdrawn))
      throw new Refused('This person withdrew from this batch, so nothing more of theirs is kept. Anyone who wants to take part again needs a new card from the organisation.');
  }

  /** @param {Change} change */
  _apply(change) {
    this.device = change.device ?? this.device;
    this.identity = change.identity ?? this.identity;
    for (const written of change.events ?? []) this._add(readEvent(/** @type {ReturnType<typeof record>} */ (written)));
    for (const [text, answer] of change.saved_with ?? []) this._savedWith.set(text, answer);
    for (const [name, value] of Object.entries(change.settings ?? {})) {
      if (value === null) this._settings.delete(name);
      else this._settings.set(name, value);
    }
    for (const draft of change.drafts ?? []) {
      const place = key(draft);
      this._drafts.delete(place); // the order is that of the last change
      if (draft[4] !== null && !this._reached(draft)) this._drafts.set(place, draft);
    }
  }

  /** @param {Event} event */
  _add(event) {
    const kept = covered(event, this._withdrawn) ? erased(event) : event;
    const at = this._at.get(event.id) ?? this.events.length;
    if (this.events[at]?.payload) return;
    this.events[at] = kept;
    this._at.set(event.id, at);
    this._lamport = Math.max(this._lamport, event.lamport);
    if (event.device === this.device && event.seq >= (this._last?.seq ?? 0)) this._last = event;
    if (kept.payload?.kind === 'withdraw') this._erase();
  }

  /** Erase what was taken back. */
  _erase() {
    this._withdrawn = withdrawals(this.events);
    this.events = this.events.map((event) => (covered(event, this._withdrawn) ? erased(event) : event));
    for (const [place, draft] of this._drafts) if (this._reached(draft)) this._drafts.delete(place);
  }

  /** Whether a draft was taken back. @param {DraftChange} draft */
  _reached([batch, reviewer, , field]) { return reached(field === 'translation' ? 'translate' : 'comment', reviewer, batch, this._withdrawn); }
}
