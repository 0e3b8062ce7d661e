// Keys, and how ratings, reasons and choices are called. Binding: review/session/words/keys.py.
import { msgid } from './words.js';

/** @import {Words} from './words.js' */

/** Rating → its word and its meaning, from the worst. @type {Record<string, [string, string]>} */
export const RATINGS = {
  reject: [msgid('Reject'), msgid('wrong, or not our language')],
  gist: [msgid('Gist'), msgid('I get the meaning, the words are wrong')],
  acceptable: [msgid('Acceptable'), msgid('correct, with small problems')],
  excellent: [msgid('Excellent'), msgid('as a good speaker would say it')],
};
/** @type {Record<string, string>} */
export const REASONS = {
  wrong_meaning: msgid('The meaning is wrong'),
  missing: msgid('Something is missing'),
  added: msgid('Something was added'),
  grammar: msgid('The grammar is wrong'),
  word_form: msgid('A word has the wrong form'),
  source_language: msgid('Words of the original were left in'),
  spelling: msgid('The spelling is wrong'),
  register: msgid('This is not how we talk to people'),
};
/** @type {Record<import('../types.js').Relation, string>} */
export const RELATIONS = { made: msgid('I took part'), knows: msgid('I know who made it'), neither: msgid('Neither') };
/** @type {Record<string, string>} */
export const CANNOT_JUDGE = {
  other_dialect: msgid('It is another dialect'),
  unclear_source: msgid('I do not understand the original'),
  subject: msgid('I know too little about the subject'),
  not_to_share: msgid('This should not be passed on'),
  unsaid: msgid('I would rather not say why'),
  not_shown: msgid('It is not shown properly here'),
};
/** @type {Record<import('../types.js').Scope, string>} */
export const SCOPES = {
  comments: msgid('My comments and better translations here; my answers stay'),
  batch: msgid('Everything I gave for these sentences'),
  everything: msgid('Everything I ever gave under this code'),
};

export const BACKSPACE = '\x7f';
/** Act → its keys, the one that is shown first. @type {Record<string, string[]>} */
export const KEYS = {
  reject: ['1', 'd'], gist: ['2', 'f'], acceptable: ['3', 'g'], excellent: ['4', 'h'], cannot_judge: ['0'], skip: ['s'],
  undo: ['u', BACKSPACE], reasons: [','], comment: ['c'], wording: ['e'], harm: ['!'], unrated: ['n'], unsaved: ['t'],
  larger: ['+', '='], smaller: ['-'], hand_over: ['x'], sharing: ['b'], withdraw: ['w'], help: ['?'], quit: ['q'],
};
/** @type {Record<string, string>} */
const FRENCH_ROW = Object.fromEntries([...'&é"\'(è_çà'].map((key, at) => [key, String('123457890'[at])]));
const ACTS = new Map(Object.entries(KEYS).flatMap(([act, keys]) => keys.map((key) => [key, act])));

/** @param {string} typed */
function keyOf(typed) {
  if ([...typed].length !== 1) return '';
  if (typed === '\b') return BACKSPACE;
  return FRENCH_ROW[typed] ?? digitOf(typed) ?? typed.toUpperCase().toLowerCase();
}

/** The digit that a character of any script is. @param {string} typed */
function digitOf(typed) {
  if (!/\p{Nd}/u.test(typed)) return undefined;
  // Digits stand in runs of ten, from zero on
  let [code, before] = [Number(typed.codePointAt(0)), 0];
  while (before < 50 && /\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++;
  return String(before % 10);
}

/** What a typed character does, undefined where nothing. @param {string} typed */
export const actOf = (typed) => ACTS.get(keyOf(typed));

/** Which of some choices a digit names, from 1. @template T @param {string} typed @param {T[]} choices */
export const chosen = (typed, choices) => choices[Number(typed === '-' ? '6' : keyOf(typed) || NaN) - 1];

/** @param {Words} words @param {string} rating */
export const ratingLabel = (words, rating) => words.say(RATINGS[rating]?.[0] ?? rating);
/** @param {Words} words @param {string[]} reasons */
export const reasonsLabel = (words, reasons) => reasons.map((reason) => words.say(REASONS[reason] ?? reason)).join(words.say('; '));
/** @param {Words} words @param {string} why */
export const cannotJudgeLabel = (words, why) => words.say(CANNOT_JUDGE[why] ?? why);

/** Whether a person lets their translations be used, or the better ones beside their ratings. @param {Words} words @param {boolean} shares @param {boolean} translating */
export function sharing(words, shares, translating) {
  if (translating) return words.say(shares ? msgid('My translations may be used.') : msgid('My translations may not be used.'));
  return words.say(
    shares ? msgid('The better translations that I write may be used.') : msgid('The better translations that I write may not be used.'),
  );
}

/** Name what a person decided about an item. @param {Words} words @param {import('../types.js').ShownItem} item @param {boolean} translating */
export function answerLabel(words, item, translating) {
  if (item.rating !== null) return ratingLabel(words, item.rating);
  if (!item.could_not) return words.say('Translated');
  return words.say(translating ? msgid('Could not translate') : msgid('Could not judge'));
}
