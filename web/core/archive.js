// The one zip form, and the signature over an archive's manifest. Binding: harness/sealed/archive.py.
import { ed25519 } from '@noble/curves/ed25519.js';
import { concat, equal, sha256, text, unhex, utf8 } from './bytes.js';
import { canonical } from './canonical.js';

/** Why a file is not taken; `problem` is a value of Python's FileProblem. */
export class FileError extends Error {
  /** @param {string} problem @param {string} message */
  constructor(problem, message) {
    super(message);
    this.problem = problem;
  }
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}$/;
const [LOCAL, CENTRAL, END, DAY] = [0x04034b50, 0x02014b50, 0x06054b50, 0x21];
const MOST_MEMBERS = 32;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
  return byte;
});

/** @param {Uint8Array} bytes */
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) crc = Number(TABLE[(crc ^ byte) & 255]) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Little-endian numbers, each with its width. @param {...[number, number]} fields */
const struct = (...fields) =>
  Uint8Array.from(fields.flatMap(([width, value]) => Array.from({ length: width }, (_, at) => (value / 2 ** (8 * at)) & 255)));

/** @typedef {Record<string, Uint8Array>} Members */

/** Write members as a stored zip, by name, without times or attributes. @param {Members} members */
export function pack(members) {
  const files = [];
  const directory = [];
  let at = 0;
  const names = Object.keys(members).sort();
  for (const name of names) {
    const content = /** @type {Uint8Array} */ (members[name]);
    const [crc, size] = [crc32(content), content.length];
    /** @type {[number, number][]} */
    const facts = [[2, 20], [2, 0], [2, 0], [2, 0], [2, DAY], [4, crc], [4, size], [4, size], [2, name.length], [2, 0]];
    const head = concat(struct([4, LOCAL], ...facts), utf8(name));
    directory.push(struct([4, CENTRAL], [1, 20], [1, 3], ...facts, [2, 0], [2, 0], [2, 0], [4, 0o100644 * 65536], [4, at]), utf8(name));
    files.push(head, content);
    at += head.length + size;
  }
  const listed = concat(...directory);
  const counts = struct([4, END], [4, 0], [2, names.length], [2, names.length], [4, listed.length], [4, at], [2, 0]);
  return concat(...files, listed, counts);
}

/** Read an archive that is in the one form; throws FileError for any other. @param {Uint8Array} data @returns {Members} */
export function unpack(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  /** @type {Members} */ const members = Object.create(null);
  let at = 0;
  if (data.length < 4 || view.getUint32(0, true) !== LOCAL) throw new FileError('not_ours', 'This is not a file of Rosetta.');
  while (at + 30 <= data.length && view.getUint32(at, true) === LOCAL) {
    const size = view.getUint32(at + 22, true);
    const begin = at + 30 + view.getUint16(at + 26, true);
    if (begin + size > data.length) throw new FileError('cut_short', 'This file is cut short.');
    const name = String.fromCharCode(...data.subarray(at + 30, begin));
    if (!NAME.test(name) || name in members || Object.keys(members).length === MOST_MEMBERS) throw damaged();
    members[name] = data.slice(begin, begin + size);
    at = begin + size;
  }
  if (!equal(pack(members), data)) throw damaged();
  return members;
}

const damaged = () => new FileError('damaged', 'This file was changed after it was written, or it is damaged. Ask for a new copy.');
const [MANIFEST, SIGNATURE] = ['manifest.json', 'manifest.sig'];

/**
 * Name the members' hashes in a manifest, sign it, and pack all of it.
 * @param {object} manifest @param {Members} members @param {Uint8Array} seed
 */
export function packSigned(manifest, members, seed) {
  const hashes = Object.fromEntries(Object.entries(members).map(([name, content]) => [name, sha256(content)]));
  const content = utf8(canonical({ ...manifest, members: hashes }));
  const bytes = pack({ ...members, [MANIFEST]: content, [SIGNATURE]: ed25519.sign(content, seed) });
  return { bytes, digest: sha256(content) };
}

/**
 * Read an archive and check form, signature and hashes; throws FileError.
 * @template {{format: string, members: Record<string, string>}} Manifest
 * @param {Uint8Array} data @param {string[]} formats that are read @param {(manifest: Manifest) => string} signer
 */
export function unpackSigned(data, formats, signer) {
  const { [MANIFEST]: content, [SIGNATURE]: signature, ...members } = unpack(data);
  if (!content || !signature) throw new FileError('not_ours', 'This is another kind of file.');
  /** @type {Manifest} */ let manifest;
  try {
    manifest = JSON.parse(text(content));
    if (canonical(manifest) !== text(content)) throw damaged();
  } catch {
    throw new FileError('invalid', 'The manifest is not canonical JSON. Ask for the file as Rosetta wrote it.');
  }
  if (!formats.includes(manifest.format)) {
    const newer = String(manifest.format).split('/')[0] === formats[0]?.split('/')[0];
    throw new FileError(newer ? 'newer' : 'not_ours', 'This file is of another kind or version.');
  }
  if (!ed25519.verify(signature, content, unhex(signer(manifest)), { zip215: false })) throw damaged();
  const hashes = Object.entries(members).map(([name, member]) => [name, sha256(member)]);
  if (canonical(Object.fromEntries(hashes)) !== canonical(manifest.members)) throw damaged();
  return { manifest, content, members };
}
