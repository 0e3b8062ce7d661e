// How far a person is in a batch, and the parts in which they answer. Binding: review/session/view.py.
import { covered, inOrder, erased, scopesOf, withdrawals } from '../core/event.js';
import { roundHalfEven } from '../core/text.js';
import { Person, decides } from './fold.js';

/** @import {Event, Payload, TextField} from '../types.js' */

/** What is written beside an answer → its kind of event. @type {Record<string, 'comment' | 'suggest'>} */
export const KIND_OF = { comment: 'comment', suggestion: 'suggest' };
/** @type {Record<string, TextField>} */
export const FIELD_OF = { comment: 'comment', suggest: 'suggestion' };

/** What one person did in one batch or took back in all, and when the batch was submitted. @param {Event[]} events @param {string} batch @param {string} reviewer */
export const ownEvents = (events, batch, reviewer) =>
  events.filter(({ payload }) => {
    if (payload?.kind === 'export') return payload.batch === batch;
    return payload !== null && payload.reviewer === reviewer && [batch, null].includes(payload.batch);
  });

/** Whether a person rated anything in another batch here. @param {Event[]} events @param {string} batch @param {string} reviewer */
export const trainedBefore = (events, batch, reviewer) =>
  events.some(({ payload }) => payload?.kind === 'rate' && payload.reviewer === reviewer && payload.batch !== batch);

export class SittingProgress {
  /** @param {Event[]} events of one person (`ownEvents`) @param {string} batch @param {string} reviewer @param {string[]} order */
  constructor(events, batch, reviewer, order) {
    this.order = order;
    this.places = new Map(order.map((item, place) => [item, place]));
    this._front = 0; // Items before this place of the order were all decided or skipped
    this.person = new Person();
    /** Item → what was taken back last, while nothing was decided since. @type {Map<string, Payload>} */
    this.takenBack = new Map();
    /** The item whose decision was taken back last, while nothing was decided since. @type {string | null} */
    this.reopened = null;
    /** The item decided last, other than left for later, since anything was taken back. @type {string | null} */
    this.judgedLast = null;
    /** Training items that were answered, or skipped. @type {Set<string>} */ this.practised = new Set();
    /** Event id → decision, of all that were ever made. @type {Map<string, Payload>} */ this.decisions = new Map();
    /** Time of the file that holds everything; empty where something came after it. */ this.handedOver = '';
    /** Item and kind of text → what was saved, one after the other. @type {Map<string, Event[]>} */ this._texts = new Map();
    const withdrawn = withdrawals(events);
    const scopes = scopesOf(withdrawn, reviewer, batch);
    this.withdrawn = scopes.some((scope) => scope !== 'comments');
    this.wordsWithdrawn = scopes.includes('comments');
    for (const event of [...events].sort(inOrder)) this.add(covered(event, withdrawn) ? erased(event) : event);
  }

  /** Fold in the newest event. @param {Event} event */
  add(event) {
    let said = event.payload;
    if ((decides(said?.kind) || said?.kind === 'skip') && !this.places.has(said?.item)) {
      if (said?.kind === 'skip') this.practised.add(said.item);
      event = erased(event);
      said = null;
    }
    this.person.add(event);
    this.handedOver = said?.kind === 'export' ? said.wall : '';
    if (said?.kind === 'undo') this._undone(said.target);
    else if (said && (decides(said.kind) || said.kind === 'skip')) {
      this.decisions.set(event.id, said);
      this.takenBack.delete(said.item);
      this.reopened = null;
      if (said.kind !== 'skip') this.judgedLast = said.item;
    } else if (said?.kind === 'train') this.practised.add(said.item);
    else if (said?.kind === 'comment' || said?.kind === 'suggest') {
      const place = `${said.item} ${said.kind}`;
      this._texts.set(place, [...(this._texts.get(place) ?? []), event]);
    }
  }

  /** @param {string} target */
  _undone(target) {
    const decision = this.decisions.get(target);
    if (!decision) return;
    this.reopened = decision.item;
    this._front = Math.min(this._front, this.number(decision.item) - 1);
    this.takenBack.set(decision.item, decision);
    this.judgedLast = null;
  }

  /** What this person saved about an item and did not take back. @param {string} item @param {TextField} field */
  written(item, field) {
    if (field === 'translation') return this.person.translation(item);
    return (field === 'comment' ? this.person.comments : this.person.suggestions).get(item) ?? '';
  }

  /** What was saved of an item by these events and not changed since, each with the text that it took the place of. @param {string} item @param {Set<string>} texts @returns {[Payload, string][]} */
  replaced(item, texts) {
    return ['comment', 'suggest'].flatMap((kind) => {
      const [before, last] = [undefined, undefined, ...(this._texts.get(`${item} ${kind}`) ?? [])].slice(-2);
      return last?.payload && texts.has(last.id) ? [/** @type {[Payload, string]} */ ([last.payload, before?.payload?.text ?? ''])] : [];
    });
  }

  /** Event of the decision or skip that undo takes back next. */
  get lastAct() { return [...this.person.acts.keys()].at(-1); }

  /** The place of an item in the person's order, from 1; 0 for one that is not theirs. @param {string} item */
  number(item) { return (this.places.get(item) ?? -1) + 1; }

  /** The first item that was neither decided nor skipped. @returns {string | undefined} */
  firstUnseen() {
    for (; this._front < this.order.length; this._front++) {
      const item = /** @type {string} */ (this.order[this._front]);
      if (!this.person.decided.has(item) && !this.person.skipped.has(item)) return item;
    }
    return undefined;
  }
}

// The parts: how many sentences each has, how long it takes, when one ends

export const PART = 10;
const FEWEST_ANSWERS = 5;

/** Seconds that a person needs for a sentence: the median of their answers, or what slow people need. @param {Iterable<Payload>} decisions @param {boolean} translating */
export function secondsEach(decisions, translating) {
  const times = [...decisions].filter((said) => decides(said.kind)).map((said) => said.active_ms / 1000).sort((a, b) => a - b);
  if (times.length < FEWEST_ANSWERS) return translating ? 60 : 30;
  const [low, high] = [times[Math.ceil(times.length / 2) - 1] ?? 0, times[Math.floor(times.length / 2)] ?? 0];
  return times.length % 2 ? high : (low + high) / 2;
}

/** The whole minutes that sentences take, at least 1. @param {number} sentences @param {number} seconds */
export const minutesFor = (sentences, seconds) => Math.max(1, roundHalfEven((sentences * seconds) / 60));

/** Notes when a part ends, once for each part of a sitting. */
export class Parts {
  /** @param {number} done before this sitting */
  constructor(done) { this._told = done; }

  /** @param {number} done */
  endWith(done) {
    if (done <= this._told || done % PART) return false;
    this._told = done;
    return true;
  }
}
