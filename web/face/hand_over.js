// Handing over: a sealed file that the person saves or sends, its six words, and a file to go on with on another computer.
import { sealWithPassphrase, unsealWithPassphrase } from '../core/age.js';
import { personOf } from '../core/batch.js';
import { text, utf8 } from '../core/bytes.js';
import { readCode } from '../core/codes.js';
import { phrase } from '../core/phrase.js';
import { msgid } from '../session/words.js';
import { button, download, h, p } from './dom.js';
import { unsavedWords } from './parts.js';

/** @import {Batch, Change} from '../types.js' */
/** @import {App} from './app.js' */
/** @import {Onward} from './pauses.js' */
/** @typedef {import('../session/session.js').Session} Session */

/** Where the person goes from here; null goes back. @param {App} app @param {Session} session @param {Batch} batch @returns {Promise<Onward | null>} */
export async function handOver(app, session, batch) {
  const file = await session.export();
  const words = phrase(file.digest);
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
      title: app.say('Hand over your answers'),
      body: [
        saved ? h('p', { class: 'good' }, app.say(msgid('The file is saved. It lies where this browser puts downloads: copy it to the stick, or give it to the people who asked.'))) : p(far.filter(Boolean).join(' ')),
        unsaved && !saved && h('p', { class: 'warn' }, unsaved), unsaved && !saved && button(app.say('Look at what is not saved'), () => answer('unsaved'), { key: 't', act: 'unsaved' }),
        p(app.say('These six words belong to your file:')), h('p', { class: 'phrase', id: 'six', lang: 'en', dir: 'ltr' }, words),
        p(app.say('Write these words down or take a picture. The organisation will see the same words.')), h('p', { class: 'quiet' }, file.name),
        h('div', { class: 'offers' }, button(app.say(msgid('Save to continue elsewhere')), () => answer('resume'), { act: 'resume' })),
      ],
      foot: [
        button(app.say(saved ? msgid('Save the file once more') : msgid('Save the file')), save, { main: !saved, key: saved ? '' : app.say('Enter'), act: 'save' }),
        canShare && button(app.say(msgid('Send the file')), send, { act: 'send' }), button(app.say(saved ? msgid('Go on') : msgid('Back')), () => answer(null), { main: saved, key: saved ? app.say('Enter') : 'Esc', act: 'back' }),
      ],
      keys: (typed) => typed === 't' && unsaved !== '' && (answer('unsaved'), true), enter: () => (saved ? answer(null) : save()), back: () => answer(null),
    };
  });
}

/** What seals a file to go on with: the code on the card, which nobody else has. @param {string} code */
const secretOf = (code) => `rosetta resume ${code}`;

/** Save everything as a file that opens with the code on the card, to go on with it elsewhere. @param {App} app @param {Session} session @param {Batch} batch @returns {Promise<void>} */
export const saveElsewhere = (app, session, batch) =>
  codePage(app, msgid('Save to continue elsewhere'), [
    msgid('The file holds all that you gave and nothing of others, and opens with this page and the code on your card. Save it on your stick, open this page on the other computer, and choose “I began before”.'),
  ], null, async (code) => {
    const person = personOf(batch, code);
    if (person === null) return app.say('This code is for other sentences. Look at your card again.');
    const { random, laptop } = app;
    const content = utf8(JSON.stringify(/** @type {import('../session/laptop.js').Laptop} */ (laptop).snapshot(person)));
    download(`${batch.manifest.review}.rosetta-resume`, sealWithPassphrase(content, secretOf(code), random));
    return '';
  });

/** Take in a file that was saved elsewhere. @param {App} app @param {Batch} batch @returns {Promise<void>} */
export function restore(app, batch) {
  const file = h('input', { type: 'file', id: 'file', accept: '.rosetta-resume,.txt,application/octet-stream' });
  return codePage(app, msgid('I began before'), [
    msgid('Your answers are in the browser that you used, for this page in its old place. If you moved the page, put it back. If that browser was cleared, what you did not hand over is gone.'),
    msgid('Or choose the file that you saved to continue elsewhere. Its name ends in .rosetta-resume.'),
  ], file, async (code) => {
    const chosen = file.files?.[0];
    if (!chosen) return app.say(msgid('Choose the file first.'));
    try {
      const sealed = new Uint8Array(await chosen.arrayBuffer());
      const change = /** @type {Change} */ (JSON.parse(text(unsealWithPassphrase(sealed, secretOf(code)))));
      if (personOf(batch, code) === null) return app.say('This code is for other sentences. Look at your card again.');
      await /** @type {import('../session/laptop.js').Laptop} */ (app.laptop).absorb(change);
      return '';
    } catch (error) {
      return /** @type {{problem?: string}} */ (error).problem === 'wrong_key' ? app.say(msgid('This file does not open with this code.')) : app.troubleOf(error);
    }
  });
}

/** Ask for the code, and do something with it until that says nothing. @param {App} app @param {string} title @param {string[]} about @param {HTMLElement | null} file @param {(code: string) => Promise<string>} act @returns {Promise<void>} */
const codePage = (app, title, about, file, act) =>
  app.ask((answer) => {
    const box = h('input', { id: 'typed', autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false', maxlength: '40' });
    const go = async () => {
      app.tell(app.say(msgid('Opening …')));
      await new Promise((resolve) => setTimeout(resolve, 30));
      try {
        const trouble = await act(readCode(box.value));
        if (!trouble) return answer(undefined);
        app.tell(trouble);
      } catch (error) {
        app.tell(app.troubleOf(error));
      }
      box.focus();
    };
    return {
      title: app.say(title),
      body: [...about.map((line) => p(app.say(line))), file, h('label', { for: 'typed', class: 'strong' }, app.say('Which code is on your card?')), box],
      foot: [button(app.say(msgid('Go on')), go, { main: true, key: app.say('Enter') }), app.back(() => answer(undefined))],
      enter: go, back: () => answer(undefined), focus: file ?? box,
    };
  });
