// Bytes, their text forms, and SHA-256.
import { sha256 as digest } from '@noble/hashes/sha2.js';

/** @typedef {(count: number) => Uint8Array} Random */

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @param {string} text */
export const utf8 = (text) => ENCODER.encode(text);

/** Read UTF-8; throws TypeError where it is none. @param {Uint8Array} bytes */
export const text = (bytes) => DECODER.decode(bytes);

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @param {string} digits */
export const unhex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** @param {...Uint8Array} parts */
export function concat(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {Uint8Array} one @param {Uint8Array} other */
export const equal = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);

/** @param {Uint8Array} bytes */
export const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

/** @param {string} encoded */
export const unbase64 = (encoded) => Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));

/** @param {Uint8Array | string} content */
export const sha256 = (content) => hex(digest(typeof content === 'string' ? utf8(content) : content));
