// The words of one language, from a catalogue that the page carries. Binding: review/session/words/catalogue.py.

/** @import {Catalogue} from '../types.js' */

const [LAST, PERIOD] = [200, 100];

/** Mark a text of a table for the catalogue; it is translated where it is shown. @param {string} text */
export const msgid = (text) => text;

export class Words {
  /** @param {Catalogue} catalogue */
  constructor(catalogue) {
    this._catalogue = catalogue;
    this.language = catalogue.language;
    this.direction = catalogue.direction;
    this.name = catalogue.name;
    this.texts = catalogue.texts;
  }

  /** The tag that the person chose. */
  get chosen() { return this.texts || this.language; }

  /** Tags in which to show what an organisation wrote, the best first. */
  get reads() { return this.texts ? [this.texts, this.language] : [this.language]; }

  /** These words for one who reads the texts of organisations in another language. @param {string} tag */
  reading(tag) { return new Words({ ...this._catalogue, texts: tag }); }

  /** A text; `{name}` in it becomes the fact of that name. @param {string} text @param {Record<string, unknown>} facts */
  say(text, facts = {}) {
    const found = this._message(text);
    return filled(Array.isArray(found) ? (found[0] ?? text) : (found ?? text), facts);
  }

  /** A text for a number of things. @param {string} one @param {string} many @param {number} n @param {Record<string, unknown>} facts */
  plural(one, many, n, facts = {}) {
    const forms = this._message(one);
    const form = Number(this._catalogue.plurals[n > LAST ? PERIOD + (n % PERIOD) : n]);
    const own = n === 1 ? one : many;
    return filled(Array.isArray(forms) ? (forms[form] ?? own) : own, { ...facts, n });
  }

  /** What a language calls itself, else its English name, or its tag. @param {string} tag */
  languageName(tag) { return this._catalogue.names[tag] ?? tag; }

  /** Whether two tags are of one language. @param {string} one @param {string} other */
  same(one, other) {
    const of = (/** @type {string} */ tag) => this._catalogue.languages[tag] ?? tag.split(/[-_]/)[0]?.toLowerCase();
    return of(one) === of(other);
  }

  /** @param {string} text */
  _message(text) {
    const { messages } = this._catalogue;
    return Object.hasOwn(messages, text) ? messages[text] : undefined;
  }
}

/** @param {string} text @param {Record<string, unknown>} facts */
const filled = (text, facts) => text.replaceAll(/\{(\w{1,40})\}/g, (whole, name) => (Object.hasOwn(facts, name) ? String(facts[name]) : whole));
