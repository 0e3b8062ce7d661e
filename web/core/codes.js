// Reviewers' codes and what is made of them. Binding: review/files/identities.py.
import { scrypt } from '@noble/hashes/scrypt.js';
import { hex, sha256, utf8 } from './bytes.js';
import { BLANKS } from './text.js';

export const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
export const LENGTH = 8;
/** @type {Record<string, string>} */ const LOOK_ALIKE = { O: '0', I: '1', L: '1' };

/** What was typed is no code that helps; `problem` is "length", "character", "check" or "other". */
export class CodeError extends Error {
  /** @param {string} problem */
  constructor(problem) {
    super(`The code is none: ${problem}`);
    this.problem = problem;
  }
}

/** The tag of a code in the review of a salt; takes a tenth of a second. @param {string} code @param {Uint8Array} salt */
export const tagOf = (code, salt) => hex(scrypt(utf8(code), salt, { N: 2 ** 14, r: 8, p: 1, dkLen: 16 }));

/** The name under which a batch lists the person of a tag. @param {string} tag */
export const placeOf = (tag) => sha256(`rosetta person ${tag}`);

/** Read a code as people type it: any case, spaces and hyphens, O for 0, I or L for 1. @param {string} typed */
export function readCode(typed) {
  const text = typed.normalize('NFKC').toUpperCase().replaceAll(/[OIL]/g, (letter) => LOOK_ALIKE[letter] ?? letter);
  const code = [...text.replaceAll(BLANKS, '').replaceAll(/\p{Pd}/gu, '')];
  if (code.length !== LENGTH) throw new CodeError('length');
  if (code.some((letter) => !ALPHABET.includes(letter))) throw new CodeError('character');
  // A sum over the field of 32 elements with a weight for each place, by Horner's rule
  const sum = code.reduce((total, letter) => {
    const doubled = total << 1;
    return (doubled & 0b100000 ? doubled ^ 0b100101 : doubled) ^ ALPHABET.indexOf(letter);
  }, 0);
  if (sum) throw new CodeError('check');
  return code.join('');
}
