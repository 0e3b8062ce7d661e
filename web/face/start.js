// From the batch in the page to the last sentence: which page follows which. Binding: review/session/flow.py.
import { FileError } from '../core/archive.js';
import { openBatch, orderOf, readPerson } from '../core/batch.js';
import { unbase64 } from '../core/bytes.js';
import { usePhraseWords } from '../core/phrase.js';
import { Laptop } from '../session/laptop.js';
import { SittingProgress, ownEvents } from '../session/progress.js';
import { Session } from '../session/session.js';
import { NotSaved } from '../session/troubles.js';
import { msgid } from '../session/words.js';
import { Hall, Refused, linkOf } from '../store/hall.js';
import { IndexedStore, holdAlone } from '../store/idb.js';
import { memoryStore } from '../store/memory.js';
import { App } from './app.js';
import { h, p, useLetters } from './dom.js';
import { askCode, askConsent, askRelation, askSecret, askSharing, askWhoIsHere } from './first.js';
import { handOver, restore, saveElsewhere } from './hand_over.js';
import { atItem } from './item.js';
import { askAnswers, askNext } from './pauses.js';
import { askErase, askSettings, askWithdraw, showHelp } from './settings.js';
import { openSlowly } from './slow.js';

/** @import {Batch} from '../types.js' */
/** @import {Onward} from './pauses.js' */

const AGAIN = msgid('Try again');
const KNOWN_BY = 2; // Characters of a code that are kept, as in review/session/opening.py

/** @type {Record<string, string>} */
const FILES = {
  wrong_key: msgid('This file does not open. Look at the words on your card again, or ask whether it is for this computer.'),
  newer: msgid('This file needs a newer version of this program. Ask for it.'),
};

/** Why the batch does not open. @param {unknown} error */
const whyClosed = (error) => FILES[String(/** @type {{problem?: string}} */ (error).problem)] ?? msgid('This file is damaged or was changed. Ask for a new copy.');

/** What the organiser has of the answers. @type {Record<import('../store/hall.js').Sent, string>} */
const SENT = {
  sending: msgid('Your last answer is on its way to the organiser.'),
  sent: msgid('All your answers are with the organiser.'),
  waiting: msgid('Your answers are kept on this phone, and sent when the network is there.'),
  refused: msgid('Another phone has this link now. Your answers are kept on this phone: ask the organiser.'),
};

class Sitting extends App {
  /** Where this page was served from; null for a page from a file. @type {Hall | null} */
  hall = null;
  /** @type {{token: string, code: string} | null} */
  link = null;

  /** @param {Uint8Array} data */
  async run(data) {
    this.look();
    const batch = await this._opened(data);
    document.title = batch.manifest.title;
    await this._keepIn(batch);
    this.remember();
    if (this.facts.hall) await this._join(/** @type {Laptop} */ (this.laptop));
    this.settings = () => this._settings(batch);
    for (;;) {
      await this._visit(batch);
      this.said = this.keeps ? this.say(msgid('Everything is kept. You may close this page.')) : this.say('Your answers are only in this window until you save them.');
    }
  }

  /** Open the batch; one that is sealed asks for the words of the card until they are right. @param {Uint8Array} data @returns {Promise<Batch>} */
  async _opened(data) {
    if (!this.facts.sealed) return openBatch(data);
    let why = '';
    for (;;) {
      const words = await askSecret(this, why);
      try {
        return await openSlowly(data, words);
      } catch (error) {
        why = this.say(whyClosed(error));
      }
    }
  }

  /** Open the store, or say that there is none, before anything is answered. @param {Batch} batch */
  async _keepIn(batch) {
    const [title, said] = [msgid('Open already'), msgid('This page is open in another window. Continue there, or close that window and try again here.')];
    while (!(await holdAlone(batch))) await this.inform(title, [said], AGAIN);
    for (;;) {
      try {
        const store = (this.store = await IndexedStore.open(batch, this.random));
        this.laptop = Laptop.replay(await store.changes(), store);
        return;
      } catch (error) {
        const problem = error instanceof NotSaved ? error.problem : '';
        const detail = problem ? `${problem}: ${/** @type {NotSaved} */ (error).detail}` : String(error);
        if (problem !== 'damaged') return this._keepNothing(detail);
        await this.inform(msgid('What was kept here does not open'), [this.troubleOf(error)], AGAIN, detail);
      }
    }
  }

  /** Only what stays on this device is at stake: said before the first sentence. @param {string} why */
  async _keepNothing(why) {
    await this.inform(msgid('This browser keeps nothing'), [
      msgid('Your answers would be lost when this window closes: the browser may be in private mode, or was told to keep nothing.'),
      msgid('Open this file in an ordinary window, or in another browser. Or continue here and save the file of your answers every ten sentences.'),
    ], msgid('Continue here'), why);
    this.keeps = false;
    this.store = memoryStore(this.random);
    this.laptop = Laptop.replay([], this.store);
  }

  /** Take the place of this person's link at the organiser's computer, which served this page. @param {Laptop} laptop */
  async _join(laptop) {
    this.link = linkOf(location.hash);
    history.replaceState(null, '', location.pathname); // nobody reads the link over a shoulder or in a history
    while (!this.hall) {
      try {
        this.hall = await Hall.join(laptop, this.link?.token ?? '', (state) => this._sent(state));
      } catch (error) {
        const used = msgid('This link is used on another phone already, or is no longer good. Ask the organiser for a new picture.');
        const silent = msgid('The organiser’s computer does not answer. Look whether this phone is in the network of the hall.');
        await this.inform(msgid('Not in the hall yet'), [error instanceof Refused ? used : silent], AGAIN);
      }
    }
    laptop.kept = () => this.hall?.changed();
  }

  /** Say whether the organiser has everything, on every page. @param {import('../store/hall.js').Sent} state */
  _sent(state) {
    const line = document.getElementById('sent') ?? h('p', { id: 'sent', role: 'status' });
    if (!line.parentNode) document.body.prepend(line);
    line.className = state;
    line.textContent = this.say(SENT[state]);
  }

  /** Lead through the batch until the person stops. @param {Batch} batch */
  async _visit(batch) {
    const reviewer = (this.reviewer = await this._person(batch));
    const laptop = /** @type {Laptop} */ (this.laptop);
    const session = new Session({
      laptop, batch, reviewer, face: 'browser', words: this.words, version: this.facts.version, font: this.font,
      clock: () => performance.now() / 1000, now: () => new Date(), guard: this.guard, readme: this.facts.readme,
    });
    this.session = session;
    if (this.hall) {
      this.hall.session = session;
      this.hall.changed();
    }
    if (!(await this._agrees(session))) await this._isHere({ person: '', code: '' }); // who did not agree is not remembered
    else if (await this._relates(session)) await this._sit(session, batch);
    await session.close();
    this.session = null;
  }

  /** What led to the list of people. */
  said = '';

  /** Seconds in which a key is still meant for the sentence before. */
  guard = 0.25;

  /** @param {Batch} batch @returns {Promise<string>} */
  async _person(batch) {
    const laptop = /** @type {Laptop} */ (this.laptop);
    const known = laptop.setting('person') ?? '';
    const linked = this.link?.code ?? '';
    this.link = null;
    try {
      return await this._isHere(readPerson(batch, linked));
    } catch {
      // without a link, or with one that was cut, the code is asked for
    }
    const order = orderOf(batch.manifest, known);
    if (order.length) {
      const { batch: name } = batch.manifest;
      const done = new SittingProgress(ownEvents(laptop.events, name, known), name, known, order).person.decided.size;
      if (await askWhoIsHere(this, batch, { letters: laptop.setting('reviewer') ?? '', done, total: order.length }, this.said)) return known;
    }
    let [why, typed] = ['', ''];
    for (;;) {
      typed = await askCode(this, batch, why, typed);
      if (!typed) {
        await restore(this, batch);
        this.remember();
        return this._person(batch);
      }
      try {
        return await this._isHere(readPerson(batch, typed));
      } catch (error) {
        why = this.troubleOf(error);
      }
    }
  }

  /** Remember who is here, or with two empty texts that nobody is. @param {{person: string, code: string}} here */
  async _isHere({ person, code }) {
    const facts = { reviewer: code.slice(0, KNOWN_BY), person, trusted: 'yes' };
    for (const [name, value] of Object.entries(facts)) await this.laptop?.setSetting(name, value);
    return person;
  }

  /** @param {Session} session */
  async _agrees(session) {
    while (session.view.phase === 'consent') {
      if (!(await askConsent(this, session))) return false;
      // Of a better translation it is asked when the first one is written
      const shares = session.translating ? await askSharing(this, session, null) : false;
      if (shares !== null) await session.agree(shares);
    }
    return true;
  }

  /** @param {Session} session */
  async _relates(session) {
    while (session.asksRelation)
      if (!(await answered(askRelation(this, session, session.view.trouble), (relation) => session.relate(relation)))) return false;
    return true;
  }

  /** @param {Session} session @param {Batch} batch */
  async _sit(session, batch) {
    this.reminded = session.view.done;
    for (;;) {
      /** @type {Onward | null} */
      let onward = session.view.item ? await atItem(this, session) : await askNext(this, session);
      if (this.reminds(session.view.done)) {
        this.reminded = session.view.done;
        onward ??= 'hand_over';
        if (session.view.phase === 'rest') await session.goOn(); // saving is pause enough
      }
      while (onward === 'hand_over' || onward === 'resume') {
        if (onward === 'resume') await saveElsewhere(this, session, batch);
        onward = await handOver(this, session, batch);
      }
      if (onward === 'quit') return;
      await this._next(session, onward);
    }
  }

  /** @param {Session} session @param {Onward | null} onward */
  async _next(session, onward) {
    if (onward === 'go_on') await session.goOn();
    else if (onward === 'undo') await session.undo();
    else if (onward === 'unsaved') await session.goToUnsaved();
    else if (onward === 'help') await showHelp(this, session);
    else if (onward === 'answers') await answered(askAnswers(this, session), (item) => session.goTo(item));
    else if (onward === 'sharing') await answered(askSharing(this, session, session.view.shares), (shares) => session.share(shares));
    else if (onward === 'withdraw') await answered(askWithdraw(this, session), (scope) => session.withdraw(scope));
  }

  /** @param {Batch} batch */
  async _settings(batch) {
    const erases = await askSettings(this);
    const act = erases ? await askErase(this) : null;
    if (act === 'delete') {
      await this.store?.erase();
      this.show({ title: this.say('Everything is deleted'), plain: true, body: [h('p', { class: 'good' }, this.say('Nothing of your answers and sentences is left on this computer.')), p(this.say('Thank you for your work.'))] });
      return;
    }
    if (act === 'hand_over' && this.session) await handOver(this, this.session, batch);
    this.redraw();
  }
}

/** Do something with what a page gives; false where the person went back. @template T @param {Promise<T | null>} asked @param {(given: T) => unknown} act */
async function answered(asked, act) {
  const given = await asked;
  if (given !== null) await act(given);
  return given !== null;
}

/** Run the page. */
export async function start() {
  const content = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? '';
  const facts = JSON.parse(content('rosetta-page'));
  usePhraseWords(facts.phrase_words);
  useLetters(facts);
  const app = new Sitting(facts);
  /** @type {any} */ (globalThis).rosettaPage = app;
  try {
    await app.run(unbase64(content('rosetta-batch')));
  } catch (error) {
    const [why, detail] = error instanceof FileError ? [[whyClosed(error)], error.problem] : [[], String(/** @type {Error} */ (error)?.stack ?? error)];
    await app.inform(msgid('That did not work. Ask for help.'), why, AGAIN, detail);
    location.reload();
  }
}
