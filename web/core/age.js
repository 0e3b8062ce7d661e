// Files of age (C2SP, age.md, version 1) for X25519 keys and passphrases. Binding: harness/sealed/sealing.py.
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { scrypt } from '@noble/hashes/scrypt.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { FileError } from './archive.js';
import { base64, concat, equal, unbase64, utf8 } from './bytes.js';
import { BLANKS, length } from './text.js';

/** @import {Random} from './bytes.js' */

const MAGIC = 'age-encryption.org/v1\n';
const [CHUNK, TAG, MOST_HEADER, MOST_WORK, WORK, SHORTEST] = [65536, 16, 16384, 20, 16, 12];
const NO_NONCE = new Uint8Array(12);

const damaged = () => new FileError('damaged', 'This file is damaged or cut short. Copy it again, or ask for a new copy.');
const wrongKey = () => new FileError('wrong_key', 'This file cannot be opened with this key or passphrase.');

/** @param {Uint8Array} bytes */ const plain64 = (bytes) => base64(bytes).replace(/=+$/, '');
/** @param {Uint8Array} key @param {Uint8Array | undefined} salt @param {string} purpose */
const derive = (key, salt, purpose) => hkdf(sha256, key, salt, utf8(purpose), 32);
/** @param {Uint8Array} fileKey @param {string} header */
const macOf = (fileKey, header) => plain64(hmac(sha256, derive(fileKey, undefined, 'header'), utf8(header)));

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** The letters of Bech32 (BIP-173) that check the others. @param {string} prefix @param {number[]} values */
function check(prefix, values) {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  let sum = 1;
  for (const value of [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...values]) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((generator, bit) => {
      if ((top >> bit) & 1) sum ^= generator;
    });
  }
  return sum;
}

/** Numbers of `from` bits as numbers of `to` bits, padded with zeros. @param {Iterable<number>} values @param {number} from @param {number} to */
function regroup(values, from, to) {
  const out = [];
  let [bits, held] = [0, 0];
  for (const value of values) {
    held = ((held << from) | value) & 0xfff;
    for (bits += from; bits >= to; bits -= to) out.push((held >> (bits - to)) & (2 ** to - 1));
  }
  return { out, rest: bits ? (held << (to - bits)) & (2 ** to - 1) : 0, bits };
}

/** @param {string} prefix @param {Uint8Array} bytes */
function bech32(prefix, bytes) {
  const { out, rest, bits } = regroup(bytes, 8, 5);
  const values = bits ? [...out, rest] : out;
  const sum = check(prefix, [...values, 0, 0, 0, 0, 0, 0]) ^ 1;
  const checks = [25, 20, 15, 10, 5, 0].map((shift) => (sum >>> shift) & 31);
  return `${prefix}1${[...values, ...checks].map((value) => LETTERS[value]).join('')}`;
}

/** @param {string} prefix @param {string} written */
function unbech32(prefix, written) {
  const values = [...written.slice(prefix.length + 1)].map((letter) => LETTERS.indexOf(letter));
  const whole = written.startsWith(`${prefix}1`) && values.length === 58 && !values.includes(-1) && check(prefix, values) === 1;
  if (!whole) throw new FileError('invalid', 'This is no key of age.');
  return Uint8Array.from(regroup(values.slice(0, -6), 5, 8).out);
}

/** The recipient (`age1…`) of 32 secret bytes. @param {Uint8Array} secret */
export const recipientOf = (secret) => bech32('age', x25519.getPublicKey(secret));
/** The secret bytes of `AGE-SECRET-KEY-1…`. @param {string} written */
export const secretOf = (written) => unbech32('age-secret-key-', written.toLowerCase());

/** What opens these bytes; null where they are not sealed. @param {Uint8Array} data */
export function lockOf(data) {
  const head = String.fromCharCode(...data.subarray(0, MAGIC.length + 10));
  if (!head.startsWith(MAGIC)) return null;
  return head.startsWith(`${MAGIC}-> scrypt `) ? 'passphrase' : 'keys';
}

/** @param {Uint8Array} shared @param {Uint8Array} ephemeral @param {Uint8Array} recipient */
const wrapKey = (shared, ephemeral, recipient) => derive(shared, concat(ephemeral, recipient), 'age-encryption.org/v1/X25519');
/** @param {Uint8Array} salt @param {number} work @param {string} passphrase */
const stretched = (salt, work, passphrase) =>
  scrypt(utf8(passphrase), concat(utf8('age-encryption.org/v1/scrypt'), salt), { N: 2 ** work, r: 8, p: 1, dkLen: 32, maxmem: 2 ** 31 });

/** Encrypt for recipients (`age1…`), of whom each can open it. @param {Uint8Array} data @param {string[]} recipients @param {Random} random */
export function seal(data, recipients, random) {
  const fileKey = random(16);
  const stanzas = recipients.map((written) => {
    const [secret, recipient] = [random(32), unbech32('age', written)];
    const ephemeral = x25519.getPublicKey(secret);
    const key = wrapKey(x25519.getSharedSecret(secret, recipient), ephemeral, recipient);
    return `-> X25519 ${plain64(ephemeral)}\n${plain64(chacha20poly1305(key, NO_NONCE).encrypt(fileKey))}\n`;
  });
  return write(data, fileKey, stanzas.join(''), random);
}

/** @param {Uint8Array} data @param {string} passphrase @param {Random} random */
export function sealWithPassphrase(data, passphrase, random) {
  const [fileKey, salt] = [random(16), random(16)];
  const wrapped = chacha20poly1305(stretched(salt, WORK, passphrase), NO_NONCE).encrypt(fileKey);
  return write(data, fileKey, `-> scrypt ${plain64(salt)} ${WORK}\n${plain64(wrapped)}\n`, random);
}

/** @param {Uint8Array} data @param {Uint8Array} fileKey @param {string} stanzas @param {Random} random */
function write(data, fileKey, stanzas, random) {
  const [header, nonce] = [`${MAGIC}${stanzas}---`, random(16)];
  return concat(utf8(`${header} ${macOf(fileKey, header)}\n`), nonce, ...chunked('encrypt', fileKey, nonce, data));
}

/** Each chunk through its cipher, whose nonce is its number and whether it is the last. @param {'encrypt' | 'decrypt'} way @param {Uint8Array} fileKey @param {Uint8Array} nonce @param {Uint8Array} data */
function chunked(way, fileKey, nonce, data) {
  const key = derive(fileKey, nonce, 'payload');
  const size = way === 'encrypt' ? CHUNK : CHUNK + TAG;
  const count = Math.max(1, Math.ceil(data.length / size));
  return Array.from({ length: count }, (_, at) => {
    const counter = new Uint8Array(12);
    new DataView(counter.buffer).setUint32(7, at);
    counter[11] = Number(at === count - 1);
    return chacha20poly1305(key, counter)[way](data.subarray(at * size, (at + 1) * size));
  });
}

/** Decrypt with any of these secrets of 32 bytes; throws FileError. @param {Uint8Array} data @param {Uint8Array[]} secrets */
export const unseal = (data, secrets) =>
  read(data, (kind, args, body) => {
    const ephemeral = kind === 'X25519' && args[0] ? unbase64(args[0]) : null;
    if (ephemeral?.length !== 32) return null;
    for (const secret of secrets) {
      const key = wrapKey(x25519.getSharedSecret(secret, ephemeral), ephemeral, x25519.getPublicKey(secret));
      const fileKey = tried(() => chacha20poly1305(key, NO_NONCE).decrypt(body));
      if (fileKey) return fileKey;
    }
    return null;
  });

/** Decrypt with a passphrase, which takes a second; throws FileError. @param {Uint8Array} data @param {string} passphrase */
export const unsealWithPassphrase = (data, passphrase) =>
  read(data, (kind, [salt, work], body) => {
    if (kind !== 'scrypt' || !salt || !/^[1-9][0-9]?$/.test(work ?? '') || Number(work) > MOST_WORK) return null;
    return tried(() => chacha20poly1305(stretched(unbase64(salt), Number(work), passphrase), NO_NONCE).decrypt(body));
  });

/** @template T @param {() => T} decrypt */
function tried(decrypt) {
  try {
    return decrypt();
  } catch {
    return null;
  }
}

/**
 * @param {Uint8Array} data
 * @param {(kind: string, args: string[], body: Uint8Array) => Uint8Array | null} open what gives the file's key of a stanza that fits
 */
function read(data, open) {
  if (lockOf(data) === null) throw new FileError('not_ours', 'This file is not sealed, or it is damaged.');
  const head = String.fromCharCode(...data.subarray(0, MOST_HEADER));
  const parts = /^([^]*?\n---) ([A-Za-z0-9+/]{43})\n/.exec(head);
  if (!parts?.[1]) throw damaged();
  let fileKey = null;
  for (const stanza of parts[1].slice(MAGIC.length, -4).split(/\n?-> /).slice(1)) {
    const [first, ...body] = stanza.split('\n');
    const [kind, ...args] = (first ?? '').split(' ');
    fileKey ??= tried(() => open(kind ?? '', args, unbase64(body.join(''))));
  }
  if (!fileKey) throw wrongKey();
  if (macOf(fileKey, parts[1]) !== parts[2]) throw damaged();
  return unchunked(fileKey, data.subarray(parts[0].length));
}

/** @param {Uint8Array} fileKey @param {Uint8Array} sealed nonce and chunks */
function unchunked(fileKey, sealed) {
  try {
    const chunks = chunked('decrypt', fileKey, sealed.subarray(0, 16), sealed.subarray(16));
    if (chunks.length > 1 && chunks.at(-1)?.length === 0) throw damaged();
    return concat(...chunks);
  } catch {
    throw damaged();
  }
}

/** A passphrase as it is used: lower case, one space for any run of spaces, hyphens and commas. @param {string} typed */
export function typedPassphrase(typed) {
  const words = typed.normalize('NFKC').toLowerCase().replaceAll(BLANKS, ' ').split(/[ ,\-\u2010-\u2015]+/);
  const passphrase = words.filter(Boolean).join(' ');
  if (length(passphrase) < SHORTEST) throw new FileError('wrong_key', 'This passphrase is too short. Take the words of the card.');
  return passphrase;
}
