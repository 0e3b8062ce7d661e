// The page's one script. What it exports, tests call: they run the bytes that are shipped.
export * from './core/age.js';
export * from './core/archive.js';
export * from './core/batch.js';
export * from './core/bytes.js';
export * from './core/canonical.js';
export * from './core/codes.js';
export * from './core/event.js';
export * from './core/phrase.js';
export * from './core/ratings.js';
export * from './core/records.js';
export * from './core/text.js';
export * from './session/labels.js';
export * from './session/laptop.js';
export * from './session/progress.js';
export * from './session/session.js';
export * from './session/troubles.js';
export * from './session/words.js';
import { serveWorker } from './face/slow.js';
import { start } from './face/start.js';

if (globalThis.document?.getElementById('rosetta-page')) start();
else if (typeof (/** @type {any} */ (globalThis).importScripts) === 'function') serveWorker();
