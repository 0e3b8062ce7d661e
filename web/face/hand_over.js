// Handing in: a sealed file that the person saves or sends, its six words, and a file to go on with on another computer.
import { sealWithPassphrase, unsealWithPassphrase } from '../core/age.js';
import { readPerson } from '../core/batch.js';
import { text, utf8 } from '../core/bytes.js';
import { msgid } from '../session/words.js';
import { button, download, h, p } from './dom.js';
import { codeLine } from './first.js';
import { unsavedWords } from './parts.js';

/** @import {Batch, Change} from '../types.js' */
/** @import {App} from './app.js' */
/** @import {Onward} from './pauses.js' */
/** @typedef {import('../session/laptop.js').Laptop} Laptop */
/** @typedef {import('../session/session.js').Session} Session */

/** Where the person goes from here; null goes back. @param {App} app @param {Session} session @param {Batch} batch @returns {Promise<Onward | null>} */
export async function handOver(app, session, batch) {
  const file = await session.export();
  const shared = new File([/** @type {BlobPart} */ (file.bytes)], `${file.name}.txt`, { type: 'text/plain' });
  const canShare = Boolean(navigator.canShare?.({ files: [shared] }));
  let saved = false;
  return app.ask((answer) => {
    const { view } = session;
    const done = async () => {
      await session.exported(file);
      saved = true;
      app.redraw();
    };
    const save = () => (download(file.name, file.bytes), done());
    const send = () => navigator.share({ files: [shared] }).then(done, () => undefined); // the person may change their mind
    const unsaved = unsavedWords(app.words, view);
    const open = view.total - view.done - view.skipped;
    const far = [
      app.say('You answered {done} of {total}.', { done: view.done, total: view.total }),
      view.skipped && app.words.plural('{n} sentence is left for later.', '{n} sentences are left for later.', view.skipped),
      open && app.words.plural('{n} sentence has no answer yet.', '{n} sentences have no answer yet.', open),
    ];
    return {
      title: app.say('Hand in your answers'),
      body: [
        saved ? h('p', { class: 'good' }, app.say(msgid('The file is saved. It lies where this browser puts downloads: copy it to the stick, or give it to the people who asked.'))) : p(far.filter(Boolean).join(' ')),
        unsaved && !saved && h('p', { class: 'warn' }, unsaved), unsaved && !saved && button(app.say('Look at what is not saved'), () => answer('unsaved'), { key: 't', act: 'unsaved' }),
        p(app.say('These six words belong to your file:')), h('p', { class: 'phrase', id: 'six', lang: 'en', dir: 'ltr' }, file.phrase),
        p(app.say('Write these words down or take a picture. The organisation will see the same words.')), h('p', { class: 'quiet' }, file.name),
        h('div', { class: 'offers' }, button(app.say(msgid('Save to continue elsewhere')), () => answer('resume'), { act: 'resume' })),
      ],
      foot: [
        button(app.say(saved ? msgid('Save the file once more') : msgid('Save the file')), save, { main: !saved, key: saved ? '' : app.say('Enter'), act: 'save' }),
        canShare && button(app.say(msgid('Send the file')), send, { act: 'send' }), button(app.say(saved ? msgid('Continue') : msgid('Back')), () => answer(null), { main: saved, key: saved ? app.say('Enter') : 'Esc', act: 'back' }),
      ],
      keys: (typed) => typed === 't' && unsaved !== '' && (answer('unsaved'), true), enter: () => (saved ? answer(null) : save()), back: () => answer(null),
    };
  });
}

/** What seals a file to go on with: the code on the card, which nobody else has. @param {string} code */
const secretOf = (code) => `rosetta resume ${code}`;

/** Save everything as a file that opens with the code on the card, to go on with it elsewhere. @param {App} app @param {Session} session @param {Batch} batch @returns {Promise<void>} */
export const saveElsewhere = (app, session, batch) =>
  codePage(app, batch, msgid('Save to continue elsewhere'), [
    msgid('The file holds all that you gave and nothing of others, and opens with this page and the code on your card. Save it on your stick, open this page on the other computer, and choose “I began before”.'),
  ], null, async ({ code, person }) => {
    const { random, laptop } = app;
    const content = utf8(JSON.stringify(/** @type {Laptop} */ (laptop).snapshot(person)));
    download(`${batch.manifest.review}.rosetta-resume`, sealWithPassphrase(content, secretOf(code), random));
  });

/** Take in a file that was saved elsewhere. @param {App} app @param {Batch} batch @returns {Promise<void>} */
export function restore(app, batch) {
  const file = h('input', { type: 'file', id: 'file', accept: '.rosetta-resume,.txt,application/octet-stream' });
  return codePage(app, batch, msgid('I began before'), [
    msgid('Your answers are in the browser that you used, for this page in its old place. If you moved the page, put it back. If that browser was cleared, what you did not hand in is gone.'),
    msgid('Or choose the file that you saved to continue elsewhere. Its name ends in .rosetta-resume.'),
  ], file, async ({ code }) => {
    const chosen = file.files?.[0];
    if (!chosen) return msgid('Choose the file first.');
    try {
      const sealed = new Uint8Array(await chosen.arrayBuffer());
      const change = /** @type {Change} */ (JSON.parse(text(unsealWithPassphrase(sealed, secretOf(code)))));
      await /** @type {Laptop} */ (app.laptop).absorb(change);
    } catch (error) {
      if (/** @type {{problem?: string}} */ (error).problem !== 'wrong_key') throw error;
      return msgid('This file does not open with this code.');
    }
  });
}

/**
 * Ask for the code, and do something with it until that gives no trouble.
 * @param {App} app @param {Batch} batch @param {string} title @param {string[]} about @param {HTMLElement | null} file
 * @param {(here: {code: string, person: string}) => Promise<string | void>} act @returns {Promise<void>}
 */
const codePage = (app, batch, title, about, file, act) =>
  app.ask((answer) => {
    const line = codeLine(app, '', async (typed) => {
      try {
        const trouble = await act(readPerson(batch, typed));
        if (!trouble) return answer(undefined);
        app.tell(app.say(trouble));
      } catch (error) {
        app.tell(app.troubleOf(error));
      }
      line.box.focus();
    });
    return {
      title: app.say(title), body: [...about.map((text) => p(app.say(text))), file, ...line.nodes],
      foot: [line.button, app.back(() => answer(undefined))], enter: line.enter, back: () => answer(undefined), focus: file ?? line.box,
    };
  });
