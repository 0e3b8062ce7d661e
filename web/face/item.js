// The page on which a person decides about a sentence: rates it, learns from practice, or translates it. One key gives, saves and goes on.
import { asKept, harmless, storable } from '../core/text.js';
import { CANNOT_JUDGE, KEYS, RATINGS, REASONS, actOf, chosen, ratingLabel } from '../session/labels.js';
import { TOO_SOON } from '../session/messages.js';
import { msgid } from '../session/words.js';
import { button, capital, folded, h, p } from './dom.js';
import { maySuggest } from './first.js';
import { choices, itemTexts, labelled, letterRow, marks, organiserText, placeOfItem } from './parts.js';

/** @import {Rating, ShownItem, TextField, View} from '../types.js' */
/** @import {App, Page} from './app.js' */
/** @import {Child} from './dom.js' */
/** @import {Onward} from './pauses.js' */
/** @typedef {import('../session/session.js').Session} Session */
/** @typedef {{foot: Child[], body?: Child[], typed?: (typed: string) => boolean, enter?: () => unknown}} Panel */
/** @typedef {'answer' | 'acts' | 'reasons' | 'why' | 'harm' | 'writing'} Mode */

const UNREADABLE = msgid('This computer cannot show the letters of this sentence.');
const PAUSE = 600; // Milliseconds without a key after which what is typed is kept as a draft
const ONWARD = ['hand_over', 'sharing', 'withdraw', 'help', 'quit'];
const IN_TRAINING = [...Object.keys(RATINGS), 'skip', 'help', 'withdraw', 'quit'];

export class ItemPage {
  /** @param {App} app @param {Session} session @param {(onward: Onward | null) => void} leave null shows where the person is now */
  constructor(app, session, leave) {
    this.app = app;
    this.session = session;
    this.leave = leave;
    this.words = app.words;
    /** @type {Mode} */ this.mode = 'answer';
    /** @type {TextField} */ this.field = 'comment';
    this.busy = false;
    this.seen = false; // Whether the end of the translation was on the screen
    /** @type {HTMLTextAreaElement | null} */ this.box = null;
    this.kept = ''; // What is in the box and was kept
    this.timer = 0;
    this.left = new AbortController();
    const { signal } = this.left;
    addEventListener('scroll', () => this._see(), { passive: true, signal });
    addEventListener('visibilitychange', () => this._keepTyped(), { signal });
  }

  get view() { return this.session.view; }

  get item() { return /** @type {ShownItem} */ (this.view.item); }

  get unreadable() { return this.app.facts.unreadable.includes(this.item.id); }

  close() {
    this.left.abort();
    clearTimeout(this.timer);
  }

  /** Do something that the session saves, and show what comes of it; keys that come meanwhile do nothing. @param {() => unknown} act */
  async _do(act) {
    if (this.busy) return;
    this.busy = true;
    this.missed = false;
    const [before, mode] = [this.view.item?.id, this.mode];
    const slow = setTimeout(() => this.app.tell(this.app.say('saving …')), 400);
    try {
      await this._keepTyped();
      await act();
    } finally {
      clearTimeout(slow);
      this.busy = false;
    }
    if (!this.view.item || this.app.reminds(this.view.done)) return this.leave(null);
    if (this.view.item.id !== before) this.seen = false;
    this.mode = this.view.trouble && mode === 'writing' ? mode : 'answer';
    this.app.redraw();
    if (this.missed) this.app.tell(`${this.view.said} ${this.app.say(TOO_SOON)}`.trim());
  }

  // what is shown

  /** @returns {Page} */
  page() {
    const { app, view, item, mode } = this;
    this.words = app.words;
    this.box = null;
    const last = mode === 'reasons' ? view.last : null;
    const shown = last ? last.item : item;
    const about = marks(app.words, this.session.manifest, shown, this.session.translating);
    const panel = this._panel();
    const practice = view.phase === 'training' && h('p', { class: 'quiet' }, app.say('This is only practice: nothing here counts.'));
    const counts = practice ? '' : app.say('{done} of {total} done', { done: view.done, total: view.total });
    const progress = counts && h('progress', { max: view.total, value: view.done, 'aria-label': counts });
    const texts = this.unreadable && !last ? [] : itemTexts(app.words, this.session.manifest, shown);
    const lesson = view.lesson ? this._lesson() : null;
    requestAnimationFrame(() => {
      const painted = new MessageChannel();
      painted.port1.onmessage = () => (this.session.painted(item.id), this._see(), dispatchEvent(new CustomEvent('rosetta-painted', { detail: item.id })));
      painted.port2.postMessage(0);
    });
    return {
      title: placeOfItem(app.words, last ? { ...view, item: shown, phase: 'items' } : view),
      body: [progress, practice, ...texts, ...(lesson ? [lesson] : about), ...(panel.body ?? [])],
      foot: [...panel.foot, mode === 'answer' || mode === 'acts' ? this._acts() : null],
      keys: (/** @type {string} */ typed) => this._typed(typed, panel.typed), enter: () => this._enter(panel.enter), back: () => this._back(),
      about: 'source candidate', said: view.said, trouble: view.trouble, detail: view.detail, focus: this.box ?? lesson,
    };
  }

  _see() {
    const end = document.getElementById('candidate')?.getBoundingClientRect().bottom ?? 0;
    this.seen ||= end <= this.app.low + 4;
    return end - this.app.low;
  }

  _lesson() {
    const { given, expected, explanation, note } = /** @type {import('../types.js').Lesson} */ (this.view.lesson);
    const facts = { given: ratingLabel(this.words, given), rating: ratingLabel(this.words, expected) };
    const agrees = given === expected;
    const alone = agrees || expected === 'reject';
    const said = this.app.say(alone ? msgid('You said {given}.') : msgid('You said {given}. We would say {rating}.'), facts);
    return h('div', { class: 'lesson', tabindex: '-1' }, h('p', { class: agrees ? 'good' : 'strong' }, said), ...organiserText({ text: explanation, note }));
  }

  /** What stands where the answer is given. @returns {Panel} */
  _panel() {
    const { app, item, view, session } = this;
    if (this.mode === 'why') {
      const question = app.say(session.translating ? msgid('Why can you not translate it?') : msgid('Why can you not judge it?'));
      return this._choose(question, CANNOT_JUDGE, [], (why) => session.cannotJudge(item.id, why));
    }
    if (this.mode === 'reasons' && view.last) {
      const { rating, item: { id, reasons } } = view.last;
      const toggled = (/** @type {string} */ reason) => (reasons.includes(reason) ? reasons.filter((other) => other !== reason) : [...reasons, reason]);
      const question = app.say('You answered: {rating}. What is wrong with it?', { rating: ratingLabel(app.words, rating ?? '') });
      return this._choose(question, REASONS, reasons, (reason) => session.setReasons(id, toggled(reason)));
    }
    if (this.mode === 'harm') {
      const marks = session.translating ? msgid('Mark this sentence as harmful, or as hurting our culture?') : msgid('Mark this translation as harmful, or as hurting our culture?');
      const question = app.say(item.harmful ? msgid('Take the mark “harmful” away again?') : marks);
      const { foot, enter } = this._onlyWay(capital(app.say('yes')), () => this._do(() => session.flagHarm(item.id, !item.harmful)));
      return { foot: [p(question), ...foot, app.back(() => this._back())], enter };
    }
    if (this.mode === 'writing') return this._writing();
    if (this.unreadable && !item.stands && view.phase !== 'training') {
      const said = [h('p', { class: 'strong' }, app.say(UNREADABLE)), p(app.say('It is left out, and the people who asked you will know.'))];
      return { body: said, ...this._onlyWay(app.say('Continue without it'), () => this._do(() => session.cannotJudge(item.id, 'not_shown', true))) };
    }
    if (view.lesson) return this._onlyWay(app.say(msgid('Continue')), () => this._do(() => session.goOn()));
    if (session.translating) return this._translating();
    const answers = Object.entries(RATINGS).map(([rating, [label, meaning]]) => {
      const pressed = item.stands && item.rating === rating;
      return button(app.say(label), () => this._act(rating), { key: KEYS[rating]?.[0], meaning: app.say(meaning), pressed, act: rating });
    });
    const group = h('div', { class: 'answers', role: 'group', 'aria-label': app.say(msgid('How good is it?')) }, ...answers);
    return { foot: [group], enter: () => item.stands && this._do(() => session.goTo(null)) };
  }

  /** Numbered choices from a table. @param {string} question @param {Record<string, string>} table @param {string[]} marked @param {(value: string) => unknown} act @returns {Panel} */
  _choose(question, table, marked, act) {
    const asked = choices(labelled(this.words, table), (value) => this._do(() => act(value)), marked, question);
    return { foot: [p(question), asked.node, this.app.back(() => this._back())], typed: asked.typed };
  }

  /** @param {string} label @param {() => unknown} act */
  _onlyWay(label, act) { return { foot: [this.app.way(label, act)], enter: act }; }

  /** A box to write in, with the letters that a keyboard may lack. @param {string} label @param {string} text @param {() => unknown} save */
  _box(label, text, save, back = /** @type {HTMLElement | null} */ (null)) {
    const { manifest } = this.session;
    const box = h('textarea', { id: 'box', rows: '3', spellcheck: 'false', lang: manifest.target_language, dir: 'auto', oninput: () => this._pause() });
    box.value = text;
    this.box = box;
    this.kept = text;
    const name = this.app.say(this.field === 'translation' ? msgid('Save and continue') : msgid('Save'));
    const letters = letterRow(this.words, manifest.letters, () => box);
    return { foot: [h('label', { for: 'box', class: 'strong' }, label), box, this.app.way(name, save), back, letters], enter: save };
  }

  _writing() {
    const { app, field, item } = this;
    const save = () => this._do(() => this.session.saveText(item.id, field, this._text()));
    const begun = field === 'comment' ? item.comment : item.suggestion || item.candidate;
    const label = field === 'comment' ? app.say('Your comment') : app.say('A better translation');
    return this._box(label, begun, save, app.back(() => this._back()));
  }

  _translating() {
    const { app, item } = this;
    this.field = 'translation';
    const label = app.say('Your translation');
    if (this.mode === 'acts') return this._onlyWay(label, () => this._enterMode('answer'));
    return this._box(label, item.translation, () => this._do(() => this.session.translate(item.id, this._text())));
  }

  _acts() {
    const { app, view } = this;
    const offer = (/** @type {string} */ act, /** @type {string} */ label, now = true) => button(capital(app.say(label)), () => this._act(act), { key: KEYS[act]?.[0] ?? '', off: !now, act });
    const stop = [offer('help', msgid('help')), offer('quit', msgid('stop'))];
    if (view.phase === 'training') return h('div', { class: 'acts' }, offer('skip', msgid('skip the practice')), ...stop);
    const translating = this.session.translating;
    const first = [offer('cannot_judge', translating ? msgid('cannot translate') : msgid('cannot judge')), offer('skip', msgid('later')), offer('undo', msgid('undo'), view.can_undo)];
    const rest = [
      offer('comment', msgid('comment')), ...(translating ? [] : [offer('wording', msgid('better translation'))]), offer('harm', msgid('harmful')),
      ...(translating ? [] : [offer('reasons', msgid('what was wrong?'), Boolean(view.last?.rating))]), ...stop,
    ];
    const seldom = [offer('unrated', msgid('Go to the next one without an answer')), offer('hand_over', msgid('Hand in your answers'))];
    const wide = matchMedia('(min-width: 50rem) and (min-height: 34rem)').matches;
    return h('div', { class: 'acts' }, ...first, ...(wide ? rest : []), folded(app.say(msgid('More')), h('div', { class: 'acts' }, ...(wide ? seldom : [...rest, ...seldom]))));
  }

  // keys

  /** @param {string} typed @param {((typed: string) => boolean) | undefined} panel */
  _typed(typed, panel) {
    this.session.touched();
    if (this.busy) return (this.missed = true);
    if (typed.startsWith('^')) return typed.length === 2 && !this.session.translating && this._act(Object.keys(RATINGS)[Number(typed[1]) - 1]);
    if (panel?.(typed)) return true;
    if (this.mode === 'harm' || this.mode === 'why' || this.mode === 'reasons') return false;
    const act = actOf(typed);
    return act !== undefined && this._act(act);
  }

  /** @param {(() => unknown) | undefined} enter */
  _enter(enter) {
    this.session.touched();
    if (this.busy) this.missed = true;
    else enter?.();
  }

  _back() {
    if (this.mode === 'answer' && this.session.translating) this._enterMode('acts');
    else if (this.mode === 'acts' || this.mode !== 'answer') this._enterMode('answer');
    else if (this.item.stands) this._do(() => this.session.goTo(null));
  }

  /** @param {Mode} mode */
  async _enterMode(mode) {
    if (this.busy) return;
    await this._keepTyped();
    this.mode = mode;
    this.app.redraw();
  }

  /** Do what a key or a button means; gives whether it means something. @param {string | undefined} act */
  _act(act) {
    const { app, session, view, item } = this;
    session.touched();
    if (act === undefined || this.busy) return false;
    if (view.phase === 'training' && (!IN_TRAINING.includes(act) || (view.lesson && act in RATINGS))) {
      app.tell(app.say(view.lesson ? msgid('Read the answer, then press Enter.') : msgid('That comes after the practice.')));
      return true;
    }
    if (act in RATINGS) this._rate(/** @type {Rating} */ (act));
    else if (ONWARD.includes(act)) this._keepTyped().then(() => this.leave(/** @type {Onward} */ (act)));
    else if (act === 'skip') this._do(() => session.skip(item.id));
    else if (act === 'undo') this._do(() => session.undo());
    else if (act === 'unrated') this._do(() => session.goToUnrated());
    else if (act === 'unsaved') this._do(() => session.goToUnsaved());
    else if (act === 'cannot_judge') this._enterMode('why');
    else if (act === 'harm') this._enterMode('harm');
    else if (act === 'reasons') view.last?.rating ? this._enterMode('reasons') : app.tell(app.say('First give an answer, then say why.'));
    else if (act === 'comment') this._write('comment');
    else if (act === 'wording' && !session.translating) this._write('suggestion');
    else return false;
    return true;
  }

  /** Rate what was seen: where the translation is still below, show it first. @param {Rating} rating */
  _rate(rating) {
    if (this.unreadable) return this.app.tell(this.app.say(UNREADABLE));
    const below = this._see();
    if (!this.seen) {
      scrollBy({ top: Math.min(below + 8, this.app.low * 0.7) });
      return this.app.tell(this.app.say('First read the translation.'));
    }
    return this._do(() => this.session.rate(this.item.id, rating));
  }

  /** @param {TextField} field */
  async _write(field) {
    if (field === 'suggestion' && !(await maySuggest(this.app, this.session))) return this.app.redraw();
    this.field = field;
    await this._enterMode('writing');
  }

  // keeping what is typed

  _text() { return asKept(harmless(storable(this.box?.value ?? ''))); }

  _pause() {
    this.session.touched();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this._keepTyped().catch(() => undefined), PAUSE);
  }

  /** Keep what is in the box as a draft; where that fails the session holds it, and says so. */
  async _keepTyped() {
    clearTimeout(this.timer);
    const text = this._text();
    if (!this.box || text === this.kept) return;
    this.kept = text;
    try {
      await this.session.keepDraft(this.item.id, this.field, text);
    } catch (error) {
      this.kept = '';
      this.app.tell(this.app.troubleOf(error));
    }
  }
}

/** At a sentence, until the person goes elsewhere; null where the session shows no sentence any more. @param {App} app @param {Session} session @returns {Promise<Onward | null>} */
export async function atItem(app, session) {
  /** @type {ItemPage | undefined} */ let at;
  const onward = await app.ask((/** @type {(onward: Onward | null) => void} */ leave) => (at ??= new ItemPage(app, session, leave)).page());
  at?.close();
  return onward;
}
