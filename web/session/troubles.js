// What to tell a person when something did not work. Binding: review/session/words/troubles.py.
import { msgid } from './words.js';

/** @import {Words} from './words.js' */

/** Nothing was saved, and nothing that was there before is lost; `problem` is a value of Python's StorageProblem. */
export class NotSaved extends Error {
  /** @param {string} problem @param {string} detail one technical line, without any text of a person or a batch */
  constructor(problem, detail) {
    super(`Not saved: ${problem} (${detail})`);
    this.problem = problem;
    this.detail = detail;
  }
}

/** What the person asked for cannot be done; the message says why, in English, for whoever helps. */
export class Refused extends Error {}

const OTHER = msgid('This was not saved. Press the key again. If that does not help, stop here and ask for help.');
/** Why nothing was saved → words. @type {Record<string, string>} */
const SAVING = {
  disk_full: msgid("This was not saved: the computer's disk is full. Free some space, then press the key again."),
  read_only: msgid("This was not saved: the program may not write on this computer's disk. Ask for help, then press the key again."),
  gone: msgid('This was not saved: the file with your answers was moved, or its disk is gone. Put it back, then press the key again.'),
  busy: msgid('This was not saved: the program is open in another window. Close that window, then press the key again.'),
  damaged: msgid('This was not saved: the file with your answers is damaged. Stop here and ask for help. Do not delete anything.'),
  not_ours: msgid('This was not saved: another program uses the name of the file with your answers. Stop here and ask for help.'),
};

/** A failure in the person's language, and its detail; rethrows what nobody foresaw. @param {Words} words @param {unknown} error @returns {[string, string]} */
export function trouble(words, error) {
  if (error instanceof NotSaved) return [words.say(SAVING[error.problem] ?? OTHER), error.detail];
  if (error instanceof Refused) return [words.say(msgid('That did not work. Ask for help.')), error.message];
  throw error;
}
