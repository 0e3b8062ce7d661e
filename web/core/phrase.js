// Six words instead of a SHA-256. Binding: harness/sealed/phrase.py, whose list of 2,048 words the page carries.
import { scrypt } from '@noble/hashes/scrypt.js';
import { sha256, unhex, utf8 } from './bytes.js';

/** @type {string[]} */
let list = [];

/** Take the list of words, as harness/sealed/phrase_words.txt has it. @param {string} words */
export function usePhraseWords(words) { list = words.split(/\s+/).filter(Boolean); }

/** The made-up words that earlier versions showed. @param {string} digest */
export const earlierPhrase = (digest) =>
  (digest.slice(0, 24).match(/.{4}/g) ?? [])
    .map((part) => {
      const number = parseInt(part, 16);
      const at = (/** @type {string} */ letters, /** @type {number} */ shift) => letters[(number >> shift) & (letters.length - 1)];
      const [consonants, vowels] = ['bdfghklmnprstvyz', 'aiou'];
      return at(consonants, 12) + `${at(vowels, 10)}${at(consonants, 6)}${at(vowels, 4)}${at(consonants, 0)}`;
    })
    .join(' ');

/** The six words of a SHA-256: 60 bits of it, stretched, and 6 that check them. @param {string} digest */
export function phrase(digest) {
  if (list.length !== 2048) throw new Error('the page has no list of words');
  const stretched = scrypt(unhex(digest), utf8('rosetta-check-phrase'), { N: 2 ** 11, r: 8, p: 1, dkLen: 8 });
  const bound = stretched.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n) >> 4n;
  const bytes = unhex(bound.toString(16).padStart(16, '0'));
  const number = (bound << 6n) | BigInt(parseInt(sha256(bytes).slice(0, 2), 16) >> 2);
  return [55n, 44n, 33n, 22n, 11n, 0n].map((shift) => list[Number((number >> shift) & 2047n)]).join(' ');
}

/** The six words of a public signing key. @param {string} signingKey @param {boolean} earlier */
export const keyPhrase = (signingKey, earlier = false) => (earlier ? earlierPhrase : phrase)(sha256(unhex(signingKey)));
