// The one quiet sentence about what a key did. Binding: the end of review/session/position.py.
import { cannotJudgeLabel, ratingLabel, reasonsLabel, sharing } from './labels.js';
import { MOST_TEXT } from './laptop.js';
import { FIELD_OF } from './progress.js';
import { msgid } from './words.js';

/** @import {Payload, Scope, TextField} from '../types.js' */
/** @import {Words} from './words.js' */

export const NOT_JUDGED = msgid('Saved: you cannot judge this one.');
export const TRANSLATED = msgid('Your translation is saved.');
export const NOT_TRANSLATED = msgid('Saved: you cannot translate this one.');
export const PRACTICE_IS_OVER = msgid('Practice is over. From here your answers count.');
export const NOTHING_TO_TAKE_BACK = msgid('There is nothing to take back.');
export const NOTHING_WRITTEN = msgid('Write your translation first, or leave this one for later.');
export const ASKS_FOR_TRANSLATIONS = msgid('There is nothing to rate here: these sentences are to be translated.');
export const ASKS_FOR_RATINGS = msgid('These translations are to be rated. Write a better one beside your answer.');
export const TOO_SOON = msgid('That came too soon, so nothing was done. Please do it again.');
export const ALL_SAVED = msgid('Everything that you wrote is saved.');
export const NOT_SAVED_HERE = msgid('What you wrote here is not saved yet. Save it, or answer once more.');
export const ALL_ANSWERED = msgid('Every sentence has your answer.');

/** @param {Words} words @param {string} rating */
export const rated = (words, rating) => words.say(msgid('Saved: {rating}.'), { rating: ratingLabel(words, rating) });

/** @param {Words} words @param {boolean} again */
export const putAside = (words, again) =>
  words.say(again ? msgid('Left without an answer.') : msgid('Left for later: it comes again at the end.'));

/** @param {Words} words @param {string} field @param {string} typed */
export function text(words, field, typed) {
  if (field === 'comment') return words.say(typed ? msgid('Your comment is saved.') : msgid('Your comment is removed.'));
  return words.say(typed ? msgid('Your translation is saved.') : msgid('Your translation is removed.'));
}

/** What was saved together with an answer. @param {Words} words @param {string} said @param {Payload[]} texts */
export const withTexts = (words, said, texts) =>
  [said, ...texts.map((payload) => text(words, FIELD_OF[payload.kind] ?? '', payload.text))].join(' ');

/** What undo took back, and what went with it. @param {Words} words @param {Payload} decision @param {Payload[]} beside @param {boolean} translating */
export function takenBack(words, decision, beside, translating) {
  const said = [takenBackAlone(words, decision, translating)];
  if (beside.some(({ kind }) => kind === 'reasons')) said.push(words.say(msgid('Its reasons are taken back, too.')));
  if (beside.some(({ kind }) => kind in FIELD_OF)) said.push(words.say(msgid('Your words are kept, but not saved yet.')));
  return said.join(' ');
}

/** @param {Words} words @param {Payload} decision @param {boolean} translating */
function takenBackAlone(words, decision, translating) {
  if (decision.kind === 'rate') {
    const rating = ratingLabel(words, decision.rating);
    return words.say(msgid('Taken back. Your answer was: {rating}.'), { rating });
  }
  if (decision.kind === 'translate') return words.say(msgid('Taken back. Your translation is here again.'));
  if (decision.kind === 'skip') return words.say(msgid('Taken back. You had left it for later.'));
  const reason = cannotJudgeLabel(words, decision.why);
  if (translating) return words.say(msgid('Taken back. You could not translate it: {reason}.'), { reason });
  return words.say(msgid('Taken back. You could not judge it: {reason}.'), { reason });
}

/** @param {Words} words @param {string[]} chosen */
export const reasons = (words, chosen) =>
  chosen.length ? words.say(msgid('Saved: {reasons}.'), { reasons: reasonsLabel(words, chosen) }) : words.say(msgid('Saved: no reason.'));

/** @param {Words} words @param {number} n */
export const tooLong = (words, n) =>
  words.say(msgid('This is too long to be saved: {n} characters, at most {most}. Your text is kept; shorten it.'), { n, most: MOST_TEXT });

/** @param {Words} words @param {boolean} harmful */
export const harm = (words, harmful) =>
  words.say(
    harmful ? msgid('Saved: this is harmful or hurts our culture. The key ! takes that back.') : msgid('Saved: this is not harmful after all.'),
  );

/** @param {Words} words @param {Scope} scope @param {boolean} translating */
export function withdrawn(words, scope, translating) {
  if (translating && scope === 'comments') return words.say(msgid('Your comments are erased.'));
  if (scope === 'comments') return words.say(msgid('Your comments and better translations are erased.'));
  if (scope === 'batch') return words.say(msgid('Everything you gave for these sentences is erased.'));
  return words.say(msgid('Everything you ever gave under this code is erased.'));
}

/** @param {Words} words @param {boolean} shares @param {boolean} translating */
export const shared = (words, shares, translating) => words.say(msgid('Saved: {said}'), { said: sharing(words, shares, translating) });

/** @param {Words} words @param {boolean} translating */
export const noMoreWords = (words, translating) =>
  words.say(
    translating
      ? msgid('You took back your comments here, so no new ones are kept.')
      : msgid('You took back your comments and better translations here, so no new ones are kept.'),
  );
