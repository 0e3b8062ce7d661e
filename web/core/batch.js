// The batch: opened, checked, and asked. Binding: review/files/batch.py, review/files/manifests.py.
import { lockOf, typedPassphrase, unseal, unsealWithPassphrase } from './age.js';
import { FileError, unpackSigned } from './archive.js';
import { sha256, text, unhex } from './bytes.js';
import { CodeError, placeOf, readCode, tagOf } from './codes.js';
import { strip } from './text.js';

/** @import {Batch, BatchManifest} from '../types.js' */

const FORMATS = ['rosetta-batch/3', 'rosetta-batch/2', 'rosetta-batch/1'];
const MOST_FONTS = 4;

const invalid = (/** @type {string} */ why) => new FileError('invalid', `This batch cannot be used: ${why}. Ask the organisation to fix it.`);

/**
 * Open a batch and check all of it; throws FileError. A passphrase takes a second.
 * @param {Uint8Array} data @param {{passphrase?: string, secrets?: Uint8Array[]}} keys @returns {Batch}
 */
export function openBatch(data, { passphrase, secrets = [] } = {}) {
  const lock = lockOf(data);
  if (lock === 'passphrase' && passphrase === undefined) throw new FileError('locked', 'This file opens with the passphrase on the card.');
  const plain = lock === 'keys' ? unseal(data, secrets) : lock ? unsealWithPassphrase(data, typedPassphrase(passphrase ?? '')) : data;
  /** @type {ReturnType<typeof unpackSigned<BatchManifest>>} */
  const { manifest, content, members } = unpackSigned(plain, FORMATS, (head) => head.organisation.signing_key);
  if (manifest.secret && lock === null) throw invalid('it holds secret sentences but is not sealed');
  const member = (/** @type {string} */ name) => text(members[name] ?? new Uint8Array());
  const lines = (/** @type {string} */ name) => member(name).split('\n').slice(0, -1).map((line) => JSON.parse(line));
  const salt = /^([0-9a-f]{64})\n$/.exec(member('salt.txt'));
  if (namesCodes(manifest) !== (salt === null)) throw invalid('its salt is missing, or it has one that is none');
  const batch = { manifest, sha256: sha256(content), salt: unhex(salt?.[1] ?? ''), items: lines('items.jsonl'), training: lines('training.jsonl') };
  const fonts = [];
  for (let n = 1; n <= MOST_FONTS && members[`font-${n}.ttf`]; n++)
    fonts.push({ font: /** @type {Uint8Array} */ (members[`font-${n}.ttf`]), licence: member(`font-${n}-licence.txt`) });
  const known = new Set(batch.items.map((item) => item.id));
  if (Object.values(manifest.orders).some((order) => order.length === 0 || new Set(order).size < order.length || order.some((item) => !known.has(item))))
    throw invalid('a reviewer would be asked nothing, an item twice, or one that is not there');
  return { ...batch, fonts };
}

/** @param {BatchManifest} manifest */
export const version = (manifest) => Number(manifest.format.split('/')[1]);
/** Whether it lists people by the codes on their cards. @param {BatchManifest} manifest */
export const namesCodes = (manifest) => version(manifest) === 1;
/** The name under which a person is in `orders`. @param {BatchManifest} manifest @param {string} person */
export const place = (manifest, person) => (namesCodes(manifest) ? person : placeOf(person));
/** The items that a person is asked, none where it is not for them. @param {BatchManifest} manifest @param {string} person */
export function orderOf(manifest, person) {
  const own = place(manifest, person);
  return Object.hasOwn(manifest.orders, own) ? (manifest.orders[own] ?? []) : [];
}
/** Whether a method is judged by it. @param {BatchManifest} manifest */
export const hasVerdict = (manifest) => manifest.policy_sha256 !== sha256('');

/** Read a typed code, and whom it stands for; takes a tenth of a second. Throws CodeError, "other" where the batch is not for them. @param {Batch} batch @param {string} typed */
export function readPerson({ manifest, salt }, typed) {
  const code = readCode(typed);
  const person = namesCodes(manifest) ? code : tagOf(code, salt);
  if (!orderOf(manifest, person).length) throw new CodeError('other');
  return { code, person };
}

/** @typedef {{text: string, language: string}} Wording */

/**
 * A text in the language nearest to one that is wanted, the best first; else the batch's own; else the first that is given.
 * @param {string} own @param {string} ownLanguage @param {Record<string, string>} given @param {string[]} wanted @returns {Wording}
 */
export function wording(own, ownLanguage, given, wanted) {
  const texts = new Map(Object.entries({ [ownLanguage]: own, ...given }).filter(([, text]) => strip(text) !== ''));
  const tags = new Map([...texts.keys()].map((tag) => [tag.toLowerCase(), tag]));
  const sorted = [...tags.keys()].sort();
  const near = wanted.flatMap((tag) => {
    const parts = tag.toLowerCase().split('-');
    const wider = parts.map((_, dropped) => parts.slice(0, parts.length - dropped).join('-'));
    return [...wider, ...sorted.filter((name) => name.split('-')[0] === parts[0])];
  });
  const name = [...near, ownLanguage.toLowerCase(), ...sorted].find((name) => tags.has(name));
  const tag = (name !== undefined && tags.get(name)) || ownLanguage;
  return { text: texts.get(tag) ?? '', language: tag };
}

/** What the organisation wrote, likewise. @param {BatchManifest} manifest @param {'consent' | 'guide'} name @param {string[]} wanted */
export function textIn(manifest, name, wanted) {
  const texts = Object.entries(manifest.translations ?? {}).map(([tag, texts]) => [tag, texts[name]]);
  return wording(manifest[name], manifest.language, Object.fromEntries(texts), wanted);
}
