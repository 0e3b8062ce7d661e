// The time that a person spends on an item, by a clock of seconds that never steps back. Binding: `ActiveTime` in review/session/position.py.
import { roundHalfEven } from '../core/text.js';

const IDLE_SECONDS = 60;
const MOST_MS = 86_400_000;
export const GUARD_SECONDS = 0.25;

export class ActiveTime {
  /** @param {() => number} clock @param {number} guard seconds in which a key was meant for the item before */
  constructor(clock, guard) {
    this._clock = clock;
    this._guard = guard;
    /** @type {number | null} */ this._painted = null;
    this._quiet = this._alive = this._seconds = 0;
  }

  /** Wait for another item to be painted. */
  reset() { this._painted = null; }

  painted() {
    if (this._painted !== null) return;
    this._painted = this._quiet = this._alive = this._clock();
    this._seconds = 0;
  }

  /** Count the time since the last sign of life. */
  touched() {
    const now = this._clock();
    this._seconds += Math.min(Math.max(0, now - this._alive), IDLE_SECONDS);
    this._alive = now;
  }

  /** Whether a key now can mean the item that is shown. */
  takesKeys() { return this._painted !== null && this._clock() - this._quiet >= this._guard; }

  /** Guard again after a key that meant nothing: of many in a row none counts. */
  tooSoon() { this._quiet = this._clock(); }

  milliseconds() {
    this.touched();
    return Math.min(roundHalfEven(this._seconds * 1000), MOST_MS);
  }
}
