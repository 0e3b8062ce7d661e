// The browser's own database: a change is durable when `append` resolves, and readable to nobody who has not the page.
import { hex, sha256, text, unhex, utf8 } from '../core/bytes.js';
import { canonical } from '../core/canonical.js';
import { openRecord, sealRecord } from '../core/records.js';
import { NotSaved } from '../session/troubles.js';

/** @import {Batch, Change} from '../types.js' */
/** @typedef {import('../core/bytes.js').Random} Random */

const CHANGES = 'change';
/** What went wrong in the browser's words → the problem in ours. @type {Record<string, string>} */
const PROBLEMS = { QuotaExceededError: 'disk_full', ConstraintError: 'busy', InvalidStateError: 'gone', NotFoundError: 'gone', ReadOnlyError: 'read_only', InvalidAccessError: 'read_only' };

/**
 * The key under which this page keeps its records. It is made of the whole batch, which stands in the page; a sealed batch opens
 * only with the words of the card, and so do its records.
 * @param {Batch} batch
 */
export const storeKey = ({ manifest, salt }) => unhex(sha256(utf8(`rosetta page store\n${hex(salt)}\n${canonical(manifest)}`)));

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** @param {unknown} error */
const notSaved = (error) => (error instanceof NotSaved ? error : new NotSaved(PROBLEMS[/** @type {Error} */ (error)?.name] ?? 'other', String(/** @type {Error} */ (error)?.name ?? error)));

/** Whether what is kept goes with the window, where a browser lets a page know: Firefox refuses its folder to private windows. */
const isPrivate = async () => navigator.userAgent.includes('Firefox/') && navigator.storage !== undefined && navigator.storage.getDirectory().then(() => false, () => true);

export class IndexedStore {
  /** @param {IDBDatabase} db @param {Uint8Array} key @param {Random} random */
  constructor(db, key, random) {
    this._db = db;
    this._key = key;
    this.random = random;
    this._next = 0; // Number of the next record
    this._first = 0; // That of the first one that is kept
    db.onversionchange = () => db.close();
  }

  /** Open the store of a batch and try to write; throws NotSaved where the browser keeps nothing. @param {Batch} batch @param {Random} random */
  static async open(batch, random) {
    try {
      if (!('durability' in IDBTransaction.prototype)) throw new NotSaved('other', 'no durable commit');
      if (await isPrivate()) throw new NotSaved('other', 'private window');
      const request = indexedDB.open(`rosetta-${batch.manifest.batch}`, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(CHANGES);
      const store = new IndexedStore(await answer(request), storeKey(batch), random);
      await store._write((records) => records.put(new Uint8Array(1), -1));
      return store;
    } catch (error) {
      throw notSaved(error);
    }
  }

  /** Everything that was kept, in its order; throws NotSaved where a record was changed. @returns {Promise<Change[]>} */
  async changes() {
    const records = this._db.transaction(CHANGES).objectStore(CHANGES);
    const [keys, values] = await Promise.all([answer(records.getAllKeys(IDBKeyRange.lowerBound(0))), answer(records.getAll(IDBKeyRange.lowerBound(0)))]);
    this._first = Number(keys[0] ?? 0);
    this._next = Number(keys.at(-1) ?? -1) + 1;
    try {
      return values.map((sealed, at) => JSON.parse(text(openRecord(this._key, String(keys[at]), sealed))));
    } catch {
      throw new NotSaved('damaged', 'a record does not open');
    }
  }

  /** @param {Change} change @returns {Promise<void>} */
  async append(change) {
    const sealed = this._sealed(this._next, change);
    await this._write((records, refuse) => {
      const count = records.count(IDBKeyRange.lowerBound(0));
      count.onsuccess = () => count.result < this._next - this._first && refuse(new NotSaved('gone', 'the store was emptied'));
      records.add(sealed, this._next);
    });
    this._next++;
  }

  /** @param {Change} change @returns {Promise<void>} */
  async rewrite(change) {
    const sealed = this._sealed(this._next, change);
    await this._write((records) => {
      records.clear();
      records.add(sealed, this._next);
    });
    this._first = this._next++;
  }

  /** Delete everything. @returns {Promise<void>} */
  async erase() {
    await this._write((records) => records.clear()).catch(() => undefined); // a blocked deletion leaves nothing to read
    this._db.close();
    await answer(indexedDB.deleteDatabase(this._db.name));
  }

  /** @param {number} place @param {Change} change */
  _sealed(place, change) {
    return sealRecord(this._key, String(place), utf8(JSON.stringify(change)), this.random);
  }

  /** Do it in one transaction, which is on the disk when this resolves. @param {(records: IDBObjectStore, refuse: (why: NotSaved) => void) => unknown} act @returns {Promise<void>} */
  _write(act) {
    return new Promise((resolve, reject) => {
      /** @type {NotSaved | null} */
      let why = null;
      try {
        const transaction = this._db.transaction(CHANGES, 'readwrite', { durability: 'strict' });
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(why ?? notSaved(transaction.error));
        act(transaction.objectStore(CHANGES), (problem) => {
          why = problem;
          transaction.abort();
        });
      } catch (error) {
        reject(notSaved(error));
      }
    });
  }
}

/** Hold a batch for this window alone, until it is closed; false where another window has it. @param {Batch} batch @returns {Promise<boolean>} */
export function holdAlone(batch) {
  if (!navigator.locks) return Promise.resolve(true); // then two windows find it out when both write the same record
  return new Promise((resolve) => {
    const held = navigator.locks.request(`rosetta-${batch.manifest.batch}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise(() => undefined);
    });
    held.catch(() => resolve(true));
  });
}
