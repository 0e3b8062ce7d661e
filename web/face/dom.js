// Elements, and the one function through which every text is shown.

// Directions that reach further than their neighbours → their names; other signs that act are shown by their numbers
/** @type {Record<string, string>} */
const NAMED = {
  '\u2028': 'LS', '\u2029': 'PS', '\u202a': 'LRE', '\u202b': 'RLE', '\u202c': 'PDF', '\u202d': 'LRO', '\u202e': 'RLO',
  '\u2066': 'LRI', '\u2067': 'RLI', '\u2068': 'FSI', '\u2069': 'PDI', '\ufeff': 'BOM', '\x7f': 'U+007F',
};
// Type-setting needs these where they stand
const KEPT = new Set('\t\n\xad\u061c\u200b\u200c\u200d\u200e\u200f\u2060');
const ACTS = /[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/gu;
const MARKS = /(\p{M}{8})(?=\p{M})/gu;
const RUN = /([^\n -~])\1{3,}/gu;

/** Letters that no font of the page has → their names. @type {Record<string, string>} */
let names = {};
/** First and last of each run of code points that a font of the page has. @type {number[]} */
let runs = [0, 0x10ffff];

/** @param {{names: Record<string, string>, drawn: number[]}} letters */
export function useLetters({ names: given, drawn }) { [names, runs] = [given, drawn]; }

/** Character → whether a font has a picture of it, or of all its parts. @type {Map<string, boolean>} */
const known = new Map();
/** @param {string} letter */
const isDrawn = (letter) => known.get(letter) ?? (known.set(letter, looked(letter)), known.get(letter));
/** @param {string} letter */
const looked = (letter) =>
  [letter, ...(letter.normalize('NFD') === letter ? [] : [[...letter.normalize('NFD')]])].some((parts) =>
    [...parts].every((part) => {
      const code = Number(part.codePointAt(0));
      const after = runs.findIndex((edge) => edge >= code);
      return after >= 0 && (after % 2 === 1 || runs[after] === code);
    }),
  );

/** Text from outside, made harmless: what would act instead of showing is named. Binding: `readable` of corpora/text/visible.py. @param {string} text */
export function shown(text) {
  if (/^[ -~\n]*$/.test(text)) return text;
  return text
    .replaceAll('\r\n', '\n')
    .replace(RUN, (run, letter) => (isActing(letter) || !isDrawn(letter) ? `${letter}×${[...run].length}` : run))
    .replace(ACTS, (letter) => (KEPT.has(letter) ? letter : `‹${NAMED[letter] ?? number(letter)}›`))
    .replace(/[^\x00-\x7e‹›×◌]/gu, (letter) => (KEPT.has(letter) || /\p{Zs}|\p{M}|\p{Cf}/u.test(letter) || isDrawn(letter) ? letter : `‹${names[letter] ?? number(letter)}›`))
    .replace(MARKS, '$1◌');
}

/** @param {string} letter */
const isActing = (letter) => !KEPT.has(letter) && letter.match(ACTS) !== null;

/** @param {string} letter */
const number = (letter) => `U+${Number(letter.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}`;

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * Make an element. Texts among the children are shown by `shown`; names that begin with `on` are listeners.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, unknown>} facts @param {...(Child | Child[])} children @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, facts = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(facts)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else made.setAttribute(name, value === true ? '' : shown(String(value)));
  }
  for (const child of children.flat()) if (child) made.append(typeof child === 'string' ? shown(child) : child);
  return made;
}

/** @param {...Child} children */
export const p = (...children) => h('p', {}, ...children);

/** What opens on a click. @param {string} title @param {...Child} children */
export const folded = (title, ...children) => h('details', {}, h('summary', {}, title), ...children);

const RTL = /^(ar|arc|ckb|dv|fa|ha-Arab|he|ks|nqo|pa-Arab|ps|sd|syr|ug|ur|yi)\b|-(Adlm|Arab|Hebr|Mand|Nkoo|Rohg|Samr|Syrc|Thaa)\b/i;

/** The direction in which a language is written. @param {string} tag */
export const directionOf = (tag) => (RTL.test(tag) && !/-(Latn|Cyrl)\b/i.test(tag) ? 'rtl' : 'ltr');

/** A text in its language. @param {string} tag @param {string} text @param {Record<string, unknown>} facts */
export const inLanguage = (tag, text, facts = {}) => h('p', { lang: tag, dir: directionOf(tag), ...facts }, text);

/**
 * A button; its key is shown for those who have a keyboard, and is no part of its name.
 * @param {string} label @param {() => unknown} act @param {{key?: string, meaning?: string, main?: boolean, pressed?: boolean, off?: boolean, act?: string}} facts
 */
export function button(label, act, { key = '', meaning = '', main = false, pressed, off = false, act: name } = {}) {
  return h(
    'button',
    { type: 'button', class: main ? 'main' : null, onclick: act, 'aria-pressed': pressed === undefined ? null : String(pressed), disabled: off, 'data-act': name },
    key && h('kbd', { 'aria-hidden': 'true' }, key),
    h('span', {}, label),
    meaning && h('small', {}, meaning),
  );
}

/** With its first letter as a capital. @param {string} text */
export const capital = (text) => text.replace(/^\p{L}/u, (letter) => letter.toUpperCase());

/** Give a file to the person, under its name. @param {string} name @param {Uint8Array} bytes */
export function download(name, bytes) {
  const url = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (bytes)], { type: 'application/octet-stream' }));
  const link = h('a', { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
