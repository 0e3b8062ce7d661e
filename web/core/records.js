// One record of the page's store: encrypted under a key that only the page or the opened batch gives, and bound to its place.
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { concat, utf8 } from './bytes.js';

const NONCE = 24;

/** @param {Uint8Array} key @param {string} place @param {Uint8Array} content @param {import('./bytes.js').Random} random */
export function sealRecord(key, place, content, random) {
  const nonce = random(NONCE);
  return concat(nonce, xchacha20poly1305(key, nonce, utf8(place)).encrypt(content));
}

/** Open a record; throws where it was changed, moved, or sealed under another key. @param {Uint8Array} key @param {string} place @param {Uint8Array} sealed */
export const openRecord = (key, place, sealed) =>
  xchacha20poly1305(key, sealed.subarray(0, NONCE), utf8(place)).decrypt(sealed.subarray(NONCE));
