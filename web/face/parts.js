// Parts that several pages have: lists of choices, the row of letters, and words that are the same in every face.
import { version } from '../core/batch.js';
import { chosen, ratingLabel, reasonsLabel } from '../session/labels.js';
import { msgid } from '../session/words.js';
import { button, folded, h, inLanguage, p } from './dom.js';

/** @import {BatchManifest, ShownItem, View} from '../types.js' */
/** @import {Words} from '../session/words.js' */

/**
 * Numbered choices; the page gives their digits to `typed`.
 * @template T @param {[label: string, value: T][]} choices @param {(value: T) => unknown} choose @param {T[]} marked @param {string} name
 */
export function choices(choices, choose, marked = [], name = '') {
  const buttons = choices.map(([label, value], at) => button(label, () => choose(value), { key: String(at + 1), pressed: marked.includes(value) }));
  const node = h('div', { class: 'choices', role: 'group', 'aria-label': name || null }, ...buttons);
  const typed = (/** @type {string} */ character) => {
    const found = chosen(character, choices);
    if (found) choose(found[1]);
    return found !== undefined;
  };
  return { node, typed };
}

/** The choices of a table. @template {string} T @param {Words} words @param {Record<T, string>} table */
export const labelled = (words, table) => /** @type {[T, string][]} */ (Object.entries(table)).map(([value, label]) => /** @type {[string, T]} */ ([words.say(label), value]));

/** Buttons that type into a box what a keyboard may lack; the box keeps the cursor. @param {Words} words @param {string[]} letters @param {() => HTMLTextAreaElement | HTMLInputElement} box */
export function letterRow(words, letters, box, most = 24) {
  if (!letters.length) return null;
  const insert = (/** @type {string} */ letter) => {
    const field = box();
    const [from, to] = [field.selectionStart ?? field.value.length, field.selectionEnd ?? field.value.length];
    if (letter) field.setRangeText(letter, from, to, 'end');
    else field.setRangeText('', from === to ? Math.max(0, from - ([...field.value.slice(0, from)].at(-1)?.length ?? 0)) : from, to, 'end');
    field.focus();
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const key = (/** @type {string} */ letter, label = letter) => h('button', { type: 'button', tabindex: '-1', onpointerdown: (/** @type {Event} */ event) => event.preventDefault(), onclick: () => insert(letter) }, label);
  let from = 0;
  const row = h('div', { class: 'letters' });
  const draw = () => {
    const next = () => ((from = from + most < letters.length ? from + most : 0), draw());
    const more = words.say('More letters ({n} of {of})', { n: from / most + 1, of: Math.ceil(letters.length / most) });
    const others = [key(' ', words.say('Space')), key('', words.say('Take away the last letter'))];
    if (letters.length > most) others.push(button(more, next));
    row.replaceChildren(...letters.slice(from, from + most).map((letter) => key(letter)), ...others);
  };
  draw();
  return row;
}

// Binding for what follows: review/session/words/item.py and page.py.

/** For what a sentence is said, and how. @type {Record<string, string>} */
const TAGS = {
  greeting: msgid('a greeting'), declaration: msgid('a statement'), question: msgid('a question'), instruction: msgid('something to do'),
  narrative: msgid('part of a story'), label: msgid('a sign or a name of a thing'), error: msgid('a message that something went wrong'),
  conversational: msgid('everyday talk'), formal: msgid('formal'), technical: msgid('technical'), ceremonial: msgid('ceremonial'), educational: msgid('for teaching'),
};

/** What a sentence is and how it is said; empty where the corpus does not say. @param {Words} words @param {ShownItem} item */
function context(words, { around }) {
  const tags = around ? [around.context, around.formality].filter(Boolean) : [];
  return tags.map((tag) => (Object.hasOwn(TAGS, tag) ? words.say(TAGS[tag] ?? tag) : tag)).join(' · ');
}

const MOST_AROUND = 200;
/** The beginning of a text, for naming it. @param {string} text */
export const beginning = (text, most = 70) => ([...text].length <= most ? text : `${[...text].slice(0, most - 1).join('').trimEnd()}…`);

/** The original and its translation, with where the sentence stands. @param {Words} words @param {BatchManifest} manifest @param {ShownItem} item */
export function itemTexts(words, manifest, item) {
  const name = [words.say('Original'), context(words, item)].filter(Boolean).join(' · ');
  return [
    h('section', { class: 'text' }, h('h2', {}, name), inLanguage(manifest.source_language, item.source, { id: 'source' })),
    manifest.task === 'translate' ? null : h('section', { class: 'text given' }, h('h2', {}, words.say('Translation')), inLanguage(manifest.target_language, item.candidate, { id: 'candidate' })),
  ];
}

/** What the person added before, what others wrote, and, folded, the sentences around. @param {Words} words @param {BatchManifest} manifest @param {ShownItem} item @param {boolean} translating */
export function marks(words, manifest, item, translating) {
  const own = (/** @type {string} */ title, /** @type {string} */ text) => h('div', { class: 'mark' }, p(title), inLanguage(manifest.target_language, text));
  const [comment, wording] = [item.drafts.includes('comment'), item.drafts.includes('suggestion')];
  const marked = [
    answered(words, item, translating),
    item.harmful && h('p', { class: 'warn' }, words.say('You marked this as harmful.')),
    item.comment && own(words.say(comment ? msgid('Your comment, not saved yet:') : msgid('Your comment:')), item.comment),
    item.suggestion && own(words.say(wording ? msgid('Your better translation, not saved yet:') : msgid('Your better translation:')), item.suggestion),
  ];
  const others = (item.others ?? []).flatMap(({ reasons, comment, suggestion }) => [
    reasons.length ? p(words.say('Somebody says: {reasons}.', { reasons: reasonsLabel(words, reasons) })) : null,
    comment && own(words.say("Somebody's comment:"), comment),
    suggestion && own(words.say("Somebody's better translation:"), suggestion),
  ]);
  if (others.length) others.unshift(p(words.say('People wrote this in the first round, perhaps you too. You need not agree:')));
  const { before = '', after = '' } = item.around ?? {};
  const source = (/** @type {string} */ title, /** @type {string} */ text) => text && h('div', {}, p(title), inLanguage(manifest.source_language, beginning(text, MOST_AROUND)));
  const around = [source(words.say('The sentence before it:'), before), source(words.say('The sentence after it:'), after)];
  return [...marked, ...others, (before || after) && folded(words.say(msgid('The sentences around it')), ...around)];
}

/** @param {Words} words @param {ShownItem} item @param {boolean} translating */
function answered(words, item, translating) {
  if (item.could_not) return p(words.say(translating ? msgid('You said that you cannot translate this one.') : msgid('You said that you cannot judge this one.')));
  if (item.rating === null) return null;
  const rating = ratingLabel(words, item.rating);
  return p(item.stands ? words.say('Your answer is: {rating}.', { rating }) : words.say('You took back your answer “{rating}”. It does not count.', { rating }));
}

/** @param {Words} words @param {View} view */
export function placeOfItem(words, { item, phase }) {
  const facts = { number: item?.number, of: item?.of };
  if (phase === 'training') return words.say('Practice {number} of {of}', facts);
  return phase === 'skipped' ? words.say('Once more: {number} of {of}', facts) : words.say('Sentence {number} of {of}', facts);
}

/** What the organisation wrote, before it that it is in another language. @param {{text: string, note: string}} given */
export const organiserText = ({ text, note }) => [note && h('p', { class: 'quiet' }, note), h('div', { class: 'organiser' }, ...text.split('\n').map((line) => (line.trim() ? p(line) : null)))];

/** Whether this is a second look, or what is written may be shown in one. @param {Words} words @param {BatchManifest} manifest */
export const secondLook = (words, manifest) =>
  version(manifest) < 3 ? [] : [
    manifest.second_of && p(words.say('This is a second look at sentences on which people differed. Keep your answer, or give another: both are right.')),
    manifest.shows_words && p(words.say('What you write about a sentence may be shown to the other reviewers, without your name, when they look at it once more.')),
  ];

/** What is only a draft, and so is not handed in; empty for nothing. @param {Words} words @param {View} view */
export function unsavedWords(words, { unsaved }) {
  if (!unsaved.length) return '';
  const numbers = [...unsaved.slice(0, 12).map(({ number }) => number), ...(unsaved.length > 12 ? ['…'] : [])].join(', ');
  return words.plural(
    'What you wrote about {n} sentence is not saved, so it is not handed in: sentence {numbers}.',
    'What you wrote about {n} sentences is not saved, so it is not handed in: sentences {numbers}.',
    unsaved.length,
    { numbers },
  );
}
