// The file of ratings: what a device gives back for a batch, signed and sealed. Binding: review/files/ratings.py, review/log/merge.py.
import { ed25519 } from '@noble/curves/ed25519.js';
import { recipientOf, seal } from './age.js';
import { packSigned } from './archive.js';
import { base64, concat, hex, sha256, unhex, utf8 } from './bytes.js';
import { orderOf, place, version } from './batch.js';
import { erased, inOrder, isAnswer, line, reach } from './event.js';
import { earlierPhrase, phrase } from './phrase.js';
import { compare } from './text.js';

/** @import {Batch, BatchManifest, Event} from '../types.js' */
/** @typedef {{seed: string, age: string}} Identity */

const MARK_DIGITS = 12;
const PERSON_DIGITS = 6;
const DER_HEAD = unhex('302a300506032b6570032100');

/** @param {Event[]} events */
function chainsOf(events) {
  const chains = [...new Set(events.map(({ device }) => device))].map((device) => {
    const every = events.filter((event) => event.device === device);
    const named = new Set(every.map(({ prev }) => prev));
    const tips = every.map(({ id }) => id).filter((id) => !named.has(id)).sort();
    return [device, { events: every.length, tips }];
  });
  return Object.fromEntries(chains);
}

/** Reviewer → device → stretches of places that hold this person's answers. @param {Iterable<Event>} events @param {BatchManifest} manifest */
function contentsOf(events, manifest) {
  /** @type {Record<string, Record<string, [number, number][]>>} */ const contents = {};
  /** @type {Map<string, string | null>} */ const last = new Map();
  const sorted = [...events].sort((a, b) => compare(a.device, b.device) || a.seq - b.seq || compare(a.id, b.id));
  for (const event of sorted.filter((event) => isAnswer(event.kind))) {
    const who = answers(event, manifest);
    const before = last.get(event.device);
    last.set(event.device, who);
    if (who === null) continue;
    const stretches = ((contents[who] ??= {})[event.device] ??= []);
    const open = stretches.at(-1);
    if (open && before === who) open[1] = event.seq;
    else stretches.push([event.seq, event.seq]);
  }
  return contents;
}

/** Whose answer to a batch an event is; null for what the batch did not ask, or has no content. @param {Event} event @param {BatchManifest} manifest */
function answers({ payload }, manifest) {
  if (!payload?.reviewer || !orderOf(manifest, payload.reviewer).length) return null;
  const batch = payload.kind === 'withdraw' ? (reach(payload) ?? manifest.batch) : payload.batch;
  if (batch !== manifest.batch) return null;
  return payload.item === undefined || orderOf(manifest, payload.reviewer).includes(payload.item) ? payload.reviewer : null;
}

/** What goes back for one batch: every head, and the content that belongs to the batch and still stands. @param {Event[]} events @param {BatchManifest} manifest */
export function exportEvents(events, manifest) {
  const belongs = events.filter(({ payload }) => {
    if (payload?.kind === 'withdraw') return [null, manifest.batch].includes(reach(payload));
    const practice = payload?.kind === 'skip' && !orderOf(manifest, payload.reviewer).includes(payload.item); // concerns nobody else
    return payload?.batch === manifest.batch && !practice;
  });
  const over = notSaidAnyMore(belongs);
  const given = new Set(belongs.map((event) => event.id).filter((id) => !over.has(id)));
  return events.map((event) => (given.has(event.id) ? event : erased(event)));
}

/** Comments, better wordings and translations that do not stand. @param {Event[]} events */
function notSaidAnyMore(events) {
  const standing = new Map();
  const written = new Set();
  const undone = new Set(events.map(({ payload }) => payload?.kind === 'undo' && `${payload.reviewer} ${payload.target}`));
  for (const { id, payload } of [...events].sort(inOrder)) {
    if (!payload) continue;
    const { reviewer, item, kind } = payload;
    const isText = ['comment', 'suggest'].includes(kind);
    if (isText || kind === 'translate') written.add(id);
    if (isText) standing.set(`${reviewer} ${item} ${kind}`, id);
    if (['rate', 'cannot_judge', 'translate'].includes(kind) && !undone.has(`${reviewer} ${id}`)) standing.set(`${reviewer} ${item}`, id);
  }
  const stands = new Set(standing.values());
  return new Set([...written].filter((id) => !stands.has(id)));
}

/** @param {string} signingKey */
const pem = (signingKey) => `-----BEGIN PUBLIC KEY-----\n${base64(concat(DER_HEAD, unhex(signingKey)))}\n-----END PUBLIC KEY-----\n`;

/** A name without anything that a terminal could take for a command. @param {string} text */
const oneLine = (text) => text.replaceAll(/[\p{C}\p{Z}]/gu, ' ').split(/ +/).filter(Boolean).join(' ');

/** The signed archive and the SHA-256 of its manifest; the same events give the same bytes. @param {Event[]} events @param {Batch} batch @param {Identity} identity @param {string} readme */
export function signRatings(events, { manifest, sha256: batchHash }, identity, readme) {
  const ordered = [...new Map(events.map((event) => [event.id, event])).values()].sort(inOrder);
  const last = ordered.at(-1);
  if (!last) throw new Error('There are no answers to save yet.');
  const [seed, recipients] = [unhex(identity.seed), manifest.organisation.recipients];
  const signing_key = hex(ed25519.getPublicKey(seed));
  const head = {
    format: 'rosetta-ratings/2', batch: manifest.batch, batch_sha256: batchHash, review: manifest.review, device: last.device,
    events: ordered.length, head: last.id, chains: chainsOf(ordered), contents: contentsOf(ordered, manifest),
    laptop: { signing_key, recipient: recipientOf(unhex(identity.age)) }, recipients,
  };
  const page = readme.replaceAll(/\{(review|pem)\}/g, (_, name) => (name === 'pem' ? pem(signing_key) : oneLine(manifest.review)));
  const members = { 'events.jsonl': utf8(ordered.map((event) => `${line(event)}\n`).join('')), 'README.txt': utf8(page) };
  return { ...packSigned(head, members, seed), events: ordered.length, head: last.id };
}

/**
 * The sealed file of ratings with its name, in which no code stands.
 * @param {Event[]} events @param {Batch} batch @param {Identity} identity @param {string} reviewer @param {string} readme
 * @param {import('./bytes.js').Random} random
 */
export function ratingsFile(events, batch, identity, reviewer, readme, random) {
  const { manifest } = batch;
  const { bytes, ...signed } = signRatings(events, batch, identity, readme);
  const number = Object.keys(manifest.orders).sort().indexOf(place(manifest, reviewer));
  const person = sha256(`${manifest.batch} person ${number}`).slice(0, PERSON_DIGITS);
  const letters = [...manifest.title.normalize('NFC').replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '-')].slice(0, 40).join('');
  const title = letters.replaceAll(/^-+|-+$/g, '') || 'review';
  const mark = sha256(`${manifest.batch} ${signed.head}`).slice(0, MARK_DIGITS);
  const words = (version(manifest) < 3 ? earlierPhrase : phrase)(signed.digest);
  return { ...signed, phrase: words, name: `${title}-${person}-${mark}.rosetta-ratings`, bytes: seal(bytes, manifest.organisation.recipients, random) };
}
