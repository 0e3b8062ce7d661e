// Where in the sitting the person is. Binding: `SessionProgress` in review/session/position.py.

/** @import {CoursePlace, Lesson, TrainingItem} from '../types.js' */
/** @import {SittingProgress} from './progress.js' */

/** @param {CoursePlace['phase']} phase @param {string | null} item @param {number} number @param {number} of @returns {CoursePlace} */
const place = (phase, item = null, number = 0, of = 0) => ({ phase, item, number, of });

/** What the sitting remembers beside the events; every step gives a new one. */
export class Course {
  /** @param {string[]} order @param {TrainingItem[]} training empty where this person has learned before */
  constructor(order, training) {
    this.order = order;
    this.training = training;
    /** The item that undo or a jump leads to, out of turn. @type {string | null} */ this.chosen = null;
    /** Items that were put aside and are asked once more; null before that began. @type {string[] | null} */ this.second = null;
    /** Those of them that were put aside again. @type {Set<string>} */ this.passed = new Set();
    /** The training item that was answered, and what is said about it. @type {[CoursePlace, Lesson] | null} */
    this.lesson = null;
    this.resting = false;
  }

  /** @param {Partial<Course>} changes @returns {Course} */
  with(changes) { return Object.assign(new Course(this.order, this.training), this, changes); }

  /** @param {SittingProgress} now @returns {CoursePlace} */
  place(now) {
    if (now.withdrawn) return place('withdrawn');
    if (!now.person.consented) return place('consent');
    return this.lesson?.[0] ?? this._exercise(now) ?? this._item(now);
  }

  /** The training items that wait, in their order. @param {SittingProgress} now */
  exercises(now) { return this.training.map(({ id }) => id).filter((id) => !now.practised.has(id)); }

  /** @param {SittingProgress} now */
  _exercise(now) {
    const [waiting, of] = [this.exercises(now), this.training.length];
    return waiting[0] === undefined ? undefined : place('training', waiting[0], of - waiting.length + 1, of);
  }

  /** @param {SittingProgress} now */
  _item(now) {
    if (this.resting) return place('rest');
    const item = this.chosen ?? now.firstUnseen();
    if (item !== undefined) return place('items', item, now.number(item), this.order.length);
    if (this.second === null) return place(now.person.skipped.size ? 'skipped' : 'end');
    const again = this.second.find((id) => !now.person.decided.has(id) && !this.passed.has(id));
    if (again === undefined) return place('end');
    return place('skipped', again, this.second.indexOf(again) + 1, this.second.length);
  }

  /** The first item without a decision after `here`, else the first of all. @param {SittingProgress} now @param {string | null} here */
  nextUnrated(now, here) {
    const waiting = this.order.filter((item) => !now.person.decided.has(item));
    const at = here === null ? 0 : now.number(here);
    return waiting.find((item) => now.number(item) > at) ?? waiting[0];
  }

  /** Continue after a decision, or after an item was put aside. @param {{putAside?: string, rest?: boolean}} how */
  decided({ putAside, rest = false } = {}) {
    const again = putAside !== undefined && this.second?.includes(putAside);
    return this.with({ chosen: null, passed: again ? new Set([...this.passed, putAside]) : this.passed, resting: rest });
  }

  /** @param {string | null} item */
  goingTo(item) { return this.with({ chosen: item, resting: false }); }

  /** Finish a lesson or a rest, or start with what was put aside. @param {SittingProgress} now @param {CoursePlace} here */
  goingOn(now, here) {
    if (this.lesson) return this.with({ lesson: null });
    if (here.item === null && (here.phase === 'skipped' || here.phase === 'end')) {
      const skipped = [...now.person.skipped.keys()];
      return this.with({ second: skipped.length ? skipped : this.second, passed: new Set() });
    }
    return this.with({ resting: false });
  }
}
