// Opening a file with a passphrase takes a second: a worker does it, and the page still answers. It runs this very script.
import { openBatch } from '../core/batch.js';

/** @import {Batch} from '../types.js' */

const own = globalThis.document?.currentScript?.textContent ?? '';

/** Open a sealed batch; throws as `openBatch` does. @param {Uint8Array} data @param {string} passphrase @returns {Promise<Batch>} */
export async function openSlowly(data, passphrase) {
  const url = URL.createObjectURL(new Blob([own], { type: 'text/javascript' }));
  try {
    return await new Promise((resolve, reject) => {
      const worker = new Worker(url);
      worker.onmessage = ({ data: { batch, problem } }) => (batch ? resolve(batch) : reject(Object.assign(new Error(problem), { problem })));
      worker.onerror = () => reject(new Error('no worker'));
      worker.postMessage({ data, passphrase });
    });
  } catch (error) {
    if (/** @type {{problem?: string}} */ (error).problem !== undefined) throw error;
    await new Promise((resolve) => setTimeout(resolve, 50)); // a browser without workers: paint first
    return openBatch(data, { passphrase });
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** What the script does in a worker. */
export function serveWorker() {
  addEventListener('message', ({ data: { data, passphrase } }) => {
    try {
      postMessage({ batch: openBatch(data, { passphrase }) });
    } catch (error) {
      postMessage({ problem: String(/** @type {{problem?: string}} */ (error).problem ?? 'damaged') });
    }
  });
}
