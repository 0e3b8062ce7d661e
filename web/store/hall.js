// The organiser's computer that served this page: it takes answers, sealed for the organisation, and says when its disk has them.
import { hex, sha256 } from '../core/bytes.js';

/** @typedef {import('../session/laptop.js').Laptop} Laptop */
/** @typedef {import('../session/session.js').Session} Session */
/** @typedef {'sending' | 'sent' | 'waiting' | 'refused'} Sent */

const AGAIN_MS = 3000; // Until a place that did not answer is asked again

/** What the link of a person says behind its #; null without such a link. @returns {{token: string, code: string} | null} */
export function linkOf(/** @type {string} */ fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  const [token, code] = [given.get('t'), given.get('c')];
  return token && code ? { token, code } : null;
}

/** The link is another phone's. */
export class Refused extends Error {}

export class Hall {
  /** @param {string} secret @param {(state: Sent) => void} told */
  constructor(secret, told) {
    this._secret = secret;
    this._told = told;
    this._wanted = 0; // Changes that are kept here
    this._sent = 0; // Of these, what the organiser's disk has
    this._sending = false;
    /** @type {Session | null} */
    this.session = null;
  }

  /** Take the place of a link; throws where it is another phone's, or nobody answers. @param {Laptop} laptop @param {string} token @param {(state: Sent) => void} told */
  static async join(laptop, token, told) {
    let secret = laptop.setting('hall');
    if (!secret) {
      secret = hex(laptop.store.random(32));
      await laptop.setSetting('hall', secret); // kept first: should the answer be lost, the same phone may ask again
    }
    const answer = await fetch('/join', { method: 'POST', body: JSON.stringify({ token, secret }) });
    if (!answer.ok) throw answer.status === 403 ? new Refused() : new Error(`join ${answer.status}`);
    return new Hall(secret, told);
  }

  /** Something was kept here: send all of it, at once or when there is a network again. */
  changed() {
    this._wanted++;
    if (this._sent + 1 === this._wanted) this._told('sending'); // until then all was said to be there
    if (!this._sending) void this._send();
  }

  async _send() {
    this._sending = true;
    while (this._sent < this._wanted && this.session) {
      const wanted = this._wanted;
      const file = await this.session.export().catch(() => null); // before the first answer there is none
      if (!file) break;
      const state = await this._post(file.bytes, this.session.view.done);
      if (state === 'sent') this._sent = wanted;
      if (state !== 'sent' || this._sent === this._wanted) this._told(state);
      if (state === 'refused') break;
      if (state === 'waiting') await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    this._sending = false;
  }

  /** @param {Uint8Array} bytes @param {number} done @returns {Promise<Sent>} */
  async _post(bytes, done) {
    try {
      const headers = { Authorization: `Bearer ${this._secret}`, 'Rosetta-Answers': String(done) };
      const answer = await fetch('/answers', { method: 'POST', headers, body: /** @type {BodyInit} */ (bytes) });
      if (answer.status === 403) return 'refused';
      return answer.ok && (await answer.text()) === sha256(bytes) ? 'sent' : 'waiting';
    } catch {
      return 'waiting';
    }
  }
}
