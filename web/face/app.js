// The page that is shown, and what every page has: head, what is read, what stays at the foot, and the keys.
import { CodeError } from '../core/codes.js';
import { actOf } from '../session/labels.js';
import { NotSaved, trouble } from '../session/troubles.js';
import { Words, msgid } from '../session/words.js';
import { button, h, p, shown } from './dom.js';

/** @import {Batch, Catalogue} from '../types.js' */
/** @import {Child} from './dom.js' */
/** @typedef {import('../session/laptop.js').Laptop} Laptop */
/** @typedef {import('../session/session.js').Session} Session */
/** @typedef {{version: string, sealed: boolean, hall: boolean, phrase_words: string, readme: string, catalogues: Record<string, Catalogue>, names: Record<string, string>, drawn: number[], unreadable: string[], licences: string}} Facts */

/**
 * What a page shows. `keys` returns whether a typed character meant something; `enter` and `back` are what Enter and Esc do.
 * @typedef {{title: string, body: Child[], foot?: Child[], keys?: (typed: string) => boolean, enter?: () => unknown, back?: () => unknown,
 *   about?: string, said?: string, trouble?: string, detail?: string, focus?: HTMLElement | null, plain?: boolean}} Page
 */

const SIZES = [0.85, 1, 1.2, 1.5, 1.9, 2.4]; // Times the usual letters
const REMIND = 10;
const [USUAL, LETTERS_PX, MOST_FOOT] = [1, 20, 0.46]; // The last: the share of the height that the foot may take
/** Why what was typed is no code. @type {Record<string, string>} */
const CODES = {
  length: msgid('A code has 8 letters and digits. Look at your card again.'),
  character: msgid('One character cannot be right. A code has digits, and letters without I, L, O and U.'),
  check: msgid('This code cannot be right: one character is wrong, or two are swapped. Look at your card again.'),
  other: msgid('This code is for other sentences. Look at your card again.'),
};

export class App {
  /** @param {Facts} facts */
  constructor(facts) {
    this.facts = facts;
    this.words = new Words(/** @type {Catalogue} */ (facts.catalogues[this._spoken()]));
    /** @type {Laptop | null} */
    this.laptop = null;
    /** @type {Session | null} */
    this.session = null;
    /** Who answers, as events name them. */
    this.reviewer = '';
    /** How many answers there were when the person was last reminded to save what only this window has. */
    this.reminded = 0;
    /** Whether what is said is kept on this computer. */
    this.keeps = true;
    this.size = USUAL;
    this.theme = '';
    /** @type {Page} */
    this.page = { title: '', body: [] };
    /** Draw the page that is shown once more, in other words or with other answers. @type {() => unknown} */
    this.redraw = () => undefined;
    addEventListener('keydown', (event) => this._key(event));
    addEventListener('resize', () => this.fit());
    addEventListener('beforeunload', (event) => !this.keeps && event.preventDefault());
    addEventListener('unhandledrejection', ({ reason }) => this.tell(this.troubleOf(reason)));
  }

  /** The tag of a language of the browser that the page speaks. */
  _spoken() {
    const tags = navigator.languages.map((tag) => tag.toLowerCase().split('-')[0] ?? '');
    return tags.find((tag) => tag in this.facts.catalogues) ?? 'en';
  }

  /** @param {string} text @param {Record<string, unknown>} facts */
  say(text, facts = {}) { return this.words.say(text, facts); }

  /** Whether to remind of saving, every ten answers where nothing is kept. @param {number} done */
  reminds(done) { return !this.keeps && done >= this.reminded + REMIND; }

  /** Font and size, as each answer records it. */
  get font() { return `Noto ${Math.round((SIZES[this.size] ?? 1) * LETTERS_PX)}`; }

  /** @param {number} count */
  random = (count) => crypto.getRandomValues(new Uint8Array(count));

  /** What went wrong, in the person's language. @param {unknown} error @returns {string} */
  troubleOf(error) {
    if (error instanceof CodeError) return this.say(CODES[error.problem] ?? String(error));
    if (error instanceof NotSaved) return trouble(this.words, error)[0];
    return this.say('That did not work. Ask for help.');
  }

  // what is set

  /** Take the settings that were chosen before. */
  remember() {
    this.size = Number(this.laptop?.setting('size') ?? USUAL);
    this.theme = this.laptop?.setting('theme') ?? '';
    const tag = this.laptop?.setting('language');
    if (tag) this.speak(tag);
    this.look();
  }

  look() {
    const root = document.documentElement;
    root.style.setProperty('--size', String(SIZES[this.size]));
    if (this.theme) root.dataset.theme = this.theme;
    root.lang = this.words.language;
    root.dir = this.words.direction;
    if (this.session) this.session.font = this.font;
    this.fit();
  }

  /** Speak a language of the page; for one that only the organisation wrote in, its texts alone change. @param {string} tag */
  speak(tag) {
    const catalogue = this.facts.catalogues[tag];
    this.words = catalogue ? new Words(catalogue) : this.words.reading(tag);
    if (this.session) this.session.words = this.words;
  }

  /** Set something for now and for the next time; where it cannot be kept, it holds for now. @param {string} name @param {string} value */
  async set(name, value) {
    this.look();
    await this.laptop?.setSetting(name, value).catch(() => undefined);
  }

  /** @param {number} step */
  async resize(step) {
    this.size = Math.min(SIZES.length - 1, Math.max(0, this.size + step));
    await this.set('size', String(this.size));
  }

  // pages

  /** Show a page until it is answered. `made` draws it, once more whenever the language changes. @template T @param {(answer: (given: T) => void) => Page} made @returns {Promise<T>} */
  ask(made) {
    const before = this.redraw;
    return new Promise((resolve) => {
      const answer = (/** @type {T} */ given) => {
        this.redraw = before;
        resolve(given);
      };
      this.redraw = () => this.show(made(answer));
      this.redraw();
    });
  }

  /** Say something on a page of its own, with one way on. @param {string} title @param {string[]} lines @param {string} label @param {string} detail @returns {Promise<void>} */
  inform(title, lines, label, detail = '') {
    return this.ask((answer) => ({
      title: this.say(title), body: [...lines.map((line) => p(this.say(line))), this.detail(detail)],
      foot: [this.way(this.say(label), () => answer(undefined))], enter: () => answer(undefined),
    }));
  }

  /** A technical line for whoever helps; null for none. @param {string | undefined} detail */
  detail(detail) { return detail ? h('p', { class: 'quiet' }, this.say('For the person who helps: {detail}', { detail })) : null; }

  /** @param {Page} page */
  show(page) {
    this.page = page;
    const main = /** @type {HTMLElement} */ (document.getElementById('main'));
    const heading = h('h1', { id: 'place', tabindex: '-1', 'aria-describedby': page.about }, page.title);
    const menu = !page.plain && this.settings ? button(this.say('Settings'), this.settings, { act: 'settings' }) : null;
    const trouble = page.trouble && h('div', { class: 'trouble', role: 'alert' }, p(page.trouble), this.detail(page.detail));
    main.replaceChildren(
      h('header', {}, heading, h('div', { class: 'tools' }, menu)),
      h('div', { class: 'read' }, trouble, ...page.body),
      h('footer', {}, ...(page.foot ?? [])),
    );
    document.title = shown(page.title);
    this.fit();
    this.tell(page.said ?? '');
    (page.focus ?? heading).focus({ preventScroll: true });
    if (page.focus) page.focus.scrollIntoView({ block: 'nearest' });
    else scrollTo(0, 0);
  }

  /** Keep the foot in sight, unless it leaves too little to read: then without the meanings of the answers, then below the text. */
  fit() {
    const foot = document.querySelector('footer');
    if (!foot) return;
    foot.className = '';
    for (const name of ['short', 'loose']) if (foot.offsetHeight > MOST_FOOT * innerHeight) foot.classList.add(name);
  }

  /** Where the foot begins to cover what is read, in pixels from the top. */
  get low() {
    const foot = document.querySelector('footer');
    return foot && !foot.classList.contains('loose') ? Math.min(innerHeight, foot.getBoundingClientRect().top) : innerHeight;
  }

  /** The settings, over the page that is shown. @type {(() => unknown) | undefined} */
  settings;

  /** Say one quiet sentence, which a screen reader reads. @param {string} said */
  tell(said) {
    const status = /** @type {HTMLElement} */ (document.getElementById('said'));
    status.textContent = shown(said);
  }

  /** The way back, at the foot of a page. @param {() => unknown} act @param {string} label */
  back(act, label = this.say('Back')) { return button(label, act, { key: 'Esc', act: 'back' }); }

  /** The way on, which Enter takes. @param {string} label @param {() => unknown} act @param {string} [name] */
  way(label, act, name) { return button(label, act, { main: true, key: this.say('Enter'), act: name }); }

  /** @param {KeyboardEvent} event */
  _key(event) {
    if (event.isComposing || event.altKey || event.metaKey || (event.ctrlKey && !/^[1-4z]$/.test(event.key))) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const writes = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && /** @type {HTMLInputElement} */ (target).type !== 'checkbox';
    const { page } = this;
    let done = false;
    if (event.key === 'Escape' && page.back) done = (page.back(), true);
    else if (event.key === 'F1') done = page.keys?.('?') ?? false;
    else if (event.ctrlKey) done = !event.repeat && (page.keys?.(event.key === 'z' && !writes ? 'u' : `^${event.key}`) ?? false);
    else if (event.key === 'Enter' && page.enter && !(target instanceof HTMLTextAreaElement ? event.shiftKey : target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement || target.tagName === 'SUMMARY'))
      done = (page.enter(), true);
    else if (!writes && !event.repeat) {
      const typed = event.key === 'Backspace' ? '\b' : event.key;
      const act = [...typed].length === 1 ? actOf(typed) : undefined;
      if ([...typed].length === 1) done = page.keys?.(typed) ?? false; // on a French keyboard - is 6, where that is a choice
      if (!done && (act === 'larger' || act === 'smaller')) done = (this.resize(act === 'larger' ? 1 : -1), true);
    }
    if (done) event.preventDefault();
  }
}
