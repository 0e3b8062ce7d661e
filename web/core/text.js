// Text as Python sees it: lengths in code points, Python's blanks, whole surrogate pairs; and its rounding.
// Binding: harness/core/storage.py, corpora/text/visible.py, review/session/record.py.

// What `str.strip` takes away: U+001C–1F and U+0085, which `trim` leaves, and not U+FEFF, which `trim` takes
const BLANK = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const AROUND = new RegExp(`^[${BLANK}]+|[${BLANK}]+$`, 'g');
export const BLANKS = new RegExp(`[${BLANK}]`, 'gu');

/** @param {string} text */
export const strip = (text) => text.replace(AROUND, '');

/** Each lone surrogate as U+FFFD. @param {string} text */
export const storable = (text) => text.toWellFormed();

/** @param {string} text */
export const length = (text) => [...text].length;

/** The first characters of a text. @param {string} text @param {number} most */
export const cut = (text, most) => (text.length <= most ? text : [...text].slice(0, most).join(''));

// Characters that act instead of showing, or show nothing; ZWNJ, ZWJ and the ideographic space stay
const ACTS = /[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/gu;
const KEPT = new Set([' ', '\n', '\u200c', '\u200d', '\u3000']);

/** Text that was typed or pasted, without what would act instead of showing. @param {string} text */
export const harmless = (text) =>
  text
    .replaceAll('\r\n', '\n')
    .replace(ACTS, (letter) => (KEPT.has(letter) ? letter : letter === '\t' || /\p{Zs}/u.test(letter) ? ' ' : ''));

/** Composed letters without blanks around them. @param {string} text */
export const asKept = (text) => strip(text.normalize('NFC'));

/** Round as Python does: halves to the even neighbour. @param {number} value */
export function roundHalfEven(value) {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}

/** Compare two texts of ASCII letters alone, such as hashes. @param {string} one @param {string} other */
export const compare = (one, other) => Number(one > other) - Number(one < other);
