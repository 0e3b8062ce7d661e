// Events: a head that stays, and a payload that a withdrawal erases. Binding: review/log/event.py.
import { concat, sha256, unhex, utf8 } from './bytes.js';
import { canonical } from './canonical.js';
import { compare } from './text.js';

/** @import {Event, Payload} from '../types.js' */

const ANSWERS = ['consent', 'relation', 'rate', 'cannot_judge', 'undo', 'harm', 'withdraw'];

/** Whether a kind bears on a verdict. @param {string} kind */
export const isAnswer = (kind) => ANSWERS.includes(kind);

/** @param {Omit<Event, 'id' | 'payload' | 'salt'>} event */
const headOf = ({ device, seq, lamport, prev, kind, commit }) => ({ v: 1, device, seq, lamport, prev, kind, commit });
/** @param {Payload} payload @param {string} salt */
const commitment = (payload, salt) => sha256(concat(unhex(salt), utf8(canonical(payload))));

/** The next event of a device. @param {Payload} payload @param {{device: string, seq: number, lamport: number, prev: string, salt: string}} place */
export function makeEvent(payload, { salt, ...place }) {
  const head = { ...place, kind: payload.kind, commit: commitment(payload, salt) };
  return { ...head, id: sha256(canonical(headOf(head))), payload, salt };
}

/** @param {Event} event */
export const record = (event) => ({ head: headOf(event), payload: event.payload, salt: event.salt });

/** An event as one canonical line. @param {Event} event */
export const line = (event) => canonical(record(event));

/** Read a record and check it against itself; throws Error. @param {ReturnType<typeof record>} record @returns {Event} */
export function readEvent({ head, payload, salt }) {
  const { v, ...facts } = head;
  if (v !== 1 || (payload !== null && (payload.kind !== facts.kind || commitment(payload, salt ?? '') !== facts.commit)))
    throw new Error('An event was changed after it was written.');
  return { ...facts, id: sha256(canonical(head)), payload, salt };
}

/** @param {Event} event @returns {Event} */
export const erased = (event) => ({ ...event, payload: null, salt: null });

/** Compare events in the one order in which every computer reads them. @param {Event} one @param {Event} other */
export const inOrder = (one, other) =>
  one.lamport - other.lamport || compare(one.device, other.device) || one.seq - other.seq || compare(one.id, other.id);

// What was taken back

/** The batch that a withdrawal reaches, null for every batch. @param {Payload} withdraw */
export const reach = (withdraw) => (withdraw.scope === 'everything' ? null : withdraw.batch);

/** @param {Event[]} events @returns {Payload[]} */
export const withdrawals = (events) => events.flatMap(({ payload }) => (payload?.kind === 'withdraw' ? [payload] : []));

/** How much a person took back in a batch. @param {Payload[]} withdrawn @param {string} reviewer @param {string | null} batch @returns {string[]} */
export const scopesOf = (withdrawn, reviewer, batch) =>
  withdrawn.filter((said) => said.reviewer === reviewer && [null, batch].includes(reach(said))).map(({ scope }) => scope);

/**
 * Whether withdrawals reach what a person says in a batch; never a withdrawal itself.
 * @param {string} kind @param {string | null | undefined} reviewer @param {string | null} batch @param {Payload[]} withdrawn
 */
export function reached(kind, reviewer, batch, withdrawn) {
  if (reviewer == null || kind === 'withdraw') return false;
  const words = kind === 'comment' || kind === 'suggest';
  return scopesOf(withdrawn, reviewer, batch).some((scope) => words || scope !== 'comments');
}

/** @param {Event} event @param {Payload[]} withdrawn */
export const covered = ({ kind, payload }, withdrawn) =>
  payload !== null && reached(kind, payload.reviewer, payload.batch ?? null, withdrawn);
