// The view: one picture of where the person is and what was said of each item. Binding: `Picture` in review/session/position.py.
import { version, wording } from '../core/batch.js';
import { strip } from '../core/text.js';
import { PART, minutesFor, secondsEach } from './progress.js';
import { msgid } from './words.js';

/** @import {Batch, BatchItem, BatchManifest, CoursePlace, Lesson, ShownItem, TextField, TrainingItem, View} from '../types.js' */
/** @import {Course} from './course.js' */
/** @import {SittingProgress} from './progress.js' */
/** @import {Words} from './words.js' */

export const JUDGING = ['items', 'skipped', 'rest', 'end'];

/** A text of the organisation, and a note where it is in another language than the person's. @param {Words} words @param {BatchManifest} manifest @param {import('../core/batch.js').Wording} found */
export function given(words, manifest, { text, language }) {
  const shown = strip(text);
  if (words.same(language, words.chosen) || !shown || version(manifest) < 3) return { text: shown, note: '' };
  const wanted = words.texts ? words.languageName(words.texts) : words.name;
  const said = msgid('The organiser has not given this in {wanted}; here it is in {language}.');
  return { text: shown, note: words.say(said, { wanted, language: words.languageName(language) }) };
}

export class Picture {
  /** @param {Batch} batch @param {import('./record.js').Drafts} drafts */
  constructor(batch, drafts) {
    this._manifest = batch.manifest;
    /** @type {Map<string, BatchItem>} */
    this._texts = new Map([...batch.items, ...batch.training].map((item) => [item.id, item]));
    this._drafts = drafts;
  }

  /** @param {Course} course @param {SittingProgress} now @param {CoursePlace} place @param {Words} words @returns {View} */
  view(course, now, place, words) {
    const judging = JUDGING.includes(place.phase);
    const [done, total] = [now.person.decided.size, course.order.length];
    const timed = place.phase === 'consent' || place.phase === 'rest';
    const pace = timed ? secondsEach(now.decisions.values(), this._manifest.task === 'translate') : 0;
    const last = judging && now.judgedLast !== null && now.person.decided.has(now.judgedLast) ? this._decided(now.judgedLast, course, now) : null;
    const unsaved = [...this._drafts.items()].map(([item, fields]) => ({ item, number: now.number(item), fields }));
    return {
      phase: place.phase, done, total, minutes: timed ? minutesFor(Math.min(PART, total - done), pace) : 0,
      item: place.item === null ? null : this._item(place.item, place, now),
      lesson: place.phase === 'training' ? this._lesson(course, words) : null,
      last: last && { item: last, rating: last.rating },
      skipped: now.person.skipped.size,
      unsaved: unsaved.filter(({ number }) => number).sort((a, b) => a.number - b.number),
      can_undo: judging && now.person.acts.size > 0,
      handed_over: local(now.handedOver),
      shares: now.person.shareCorrections,
      said: '', too_soon: false, trouble: '', detail: '',
    };
  }

  /** Every item that was decided, in the person's order, with its answer as it was saved. @param {Course} course @param {SittingProgress} now */
  answered(course, now) {
    const decided = course.order.filter((item) => now.person.decided.has(item));
    return decided.map((item) => ({ ...this._decided(item, course, now), translation: now.person.translation(item) }));
  }

  /** @param {Course} course @param {Words} words @returns {Lesson | null} */
  _lesson(course, words) {
    if (!course.lesson) return null;
    const [place, lesson] = course.lesson;
    const { explanation, explanations = {} } = /** @type {TrainingItem} */ (this._texts.get(place.item ?? ''));
    const shown = given(words, this._manifest, wording(explanation, this._manifest.language, explanations, words.reads));
    return { ...lesson, explanation: shown.text, note: shown.note };
  }

  /** @param {string} item @param {CoursePlace} place @param {SittingProgress} now */
  _item(item, place, now) {
    const plain = this._read(item, place.number, place.of);
    if (place.phase === 'training') return plain;
    const shown = this._withWords(plain, now);
    if (now.person.decided.has(item)) return answered(shown, now);
    const before = now.takenBack.get(item);
    if (before?.kind === 'rate') return { ...shown, rating: before.rating };
    if (before?.kind === 'translate' && !shown.translation) return { ...shown, translation: before.text };
    return shown;
  }

  /** @param {ShownItem} item @param {SittingProgress} now @returns {ShownItem} */
  _withWords(item, now) {
    return {
      ...item,
      reasons: now.person.reasons.get(item.id) ?? [],
      comment: this._typed(item.id, 'comment', now),
      suggestion: this._typed(item.id, 'suggestion', now),
      harmful: now.person.harmful.has(item.id),
      translation: this._typed(item.id, 'translation', now),
      drafts: [...this._drafts.of(item.id).keys()].sort(),
    };
  }

  /** What is being written, else what was saved; a translation that was emptied is none. @param {string} item @param {TextField} field @param {SittingProgress} now */
  _typed(item, field, now) {
    const [draft, saved] = [this._drafts.of(item).get(field), now.written(item, field)];
    return field === 'translation' ? draft || saved : (draft ?? saved);
  }

  /** @param {string} item @param {Course} course @param {SittingProgress} now */
  _decided(item, course, now) {
    return answered(this._withWords(this._read(item, now.number(item), course.order.length), now), now);
  }

  /** @param {string} item @param {number} number @param {number} of @returns {ShownItem} */
  _read(item, number, of) {
    const { id, source, candidate, around = null, others = [] } = /** @type {BatchItem} */ (this._texts.get(item));
    return {
      id, source, candidate, number, of, rating: null, stands: false, could_not: false, reasons: [], comment: '', suggestion: '',
      harmful: false, translation: '', around, others, drafts: [],
    };
  }
}

/** @param {ShownItem} item @param {SittingProgress} now @returns {ShownItem} */
function answered(item, now) {
  const judgement = now.person.judgement(item.id);
  const rating = judgement?.kind === 'rate' ? judgement.rating : null;
  return { ...item, rating, stands: true, could_not: judgement !== undefined && rating === null };
}

/** A time of an event by this computer's clock, to the minute, as Swedes and computers write it. @param {string} wall */
const local = (wall) => wall && new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short' }).format(new Date(wall));
