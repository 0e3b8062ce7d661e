// One person's sitting with one batch: every key becomes an event in the store, then a new view. Binding: review/session/session.py.
import { hasVerdict, orderOf, textIn, version as versionOf } from '../core/batch.js';
import { exportEvents, ratingsFile } from '../core/ratings.js';
import { length, storable, strip } from '../core/text.js';
import { Course } from './course.js';
import { REASONS } from './labels.js';
import { MOST_TEXT } from './laptop.js';
import * as messages from './messages.js';
import { JUDGING, Picture } from './picture.js';
import { KIND_OF, Parts, trainedBefore } from './progress.js';
import { Record } from './record.js';
import { ActiveTime, GUARD_SECONDS } from './timing.js';
import { NotSaved, trouble } from './troubles.js';

/** @import {Batch, Draft, Payload, Rating, Relation, Scope, TextField, View} from '../types.js' */
/** @import {Words} from './words.js' */
/** @import {Laptop} from './laptop.js' */
/** @typedef {{course?: Course, drafts?: Draft[], then?: () => void}} Following */

const ANSWERING = ['items', 'skipped'];
const ASKED_SHARING = 'asked sharing'; // Setting: the person who was asked whether better translations may be used

/** What each key does, for any face: a promise of the view. Of a failure to save, the view tells in `trouble`. */
export class Session {
  /**
   * @param {{laptop: Laptop, batch: Batch, reviewer: string, face: string, words: Words, version: string, font?: string | null,
   *   clock: () => number, now: () => Date, guard?: number, readme?: string}} facts `reviewer` as `personOf` gives them; `clock` in seconds;
   *   `readme` is the page of a file of ratings
   */
  constructor({ laptop, batch, reviewer, face, words, version, font = null, clock, now, guard = GUARD_SECONDS, readme = '' }) {
    this._laptop = laptop;
    this._batch = batch;
    this._words = words;
    this._readme = readme;
    this.font = font; // Font and size, recorded with each rating
    const [order, id] = [orderOf(batch.manifest, reviewer), batch.manifest.batch];
    this.time = new ActiveTime(clock, guard);
    this._record = new Record(laptop, { batch: id, reviewer, order, face, version, now });
    this._picture = new Picture(batch, this._record.drafts);
    this._parts = new Parts(this._progress.person.decided.size);
    const known = this._progress.decisions.size > 0 || trainedBefore(laptop.events, id, reviewer); // an answer: past the practice
    this._course = new Course(order, known ? [] : batch.training).goingTo(this._progress.reopened);
    this._place = this._course.place(this._progress);
    this._view = this._drawn();
    this._reviewer = reviewer;
    /** @type {Promise<unknown>} */ this._turn = Promise.resolve();
  }

  get _progress() { return this._record.progress; }

  /** The person's language; a face may change it at any time. */
  get words() { return this._words; }

  set words(words) {
    const { said, trouble, detail } = this._view;
    this._words = words;
    this._view = { ...this._drawn(), said, trouble, detail };
  }

  get view() { return this._view; }

  get manifest() { return this._batch.manifest; }

  get translating() { return this.manifest.task === 'translate'; }

  /** The item is visible: its time starts, and keys begin to mean it a moment later. @param {string} item */
  painted(item) { if (this._view.item?.id === item) this.time.painted(); }

  touched() { this.time.touched(); }

  /** @param {boolean} shares */
  agree(shares) { return this._view.phase === 'consent' ? this._done([this._agreed(shares)]) : this._view; }

  /** Whether to ask how near the person is to the method: once, after the consent, before anything is judged. */
  get asksRelation() {
    const { person, withdrawn } = this._progress;
    const begun = person.decided.size || person.skipped.size || person.trained.size;
    const open = person.consented && person.relation === undefined && !withdrawn;
    return open && !begun && hasVerdict(this.manifest) && !this.translating && (this.manifest.second_of ?? null) === null;
  }

  /** @param {Relation} relation */
  relate(relation) { return this.asksRelation ? this._done([{ kind: 'relation', ...this._record.who(), relation }]) : this._view; }

  /** Whether to ask, before the first better translation, if such may be used. */
  get asksSharing() { return !this.translating && !this._view.shares && this._laptop.setting(ASKED_SHARING) !== this._reviewer; }

  /** Allow what the person writes to be used, or not any more. @param {boolean} shares */
  async share(shares) {
    if (!JUDGING.includes(this._view.phase)) return this._view;
    const given = shares === this._view.shares ? [] : [this._agreed(shares)];
    const view = await this._done(given, messages.shared(this.words, shares, this.translating));
    if (!view.trouble) await this._laptop.setSetting(ASKED_SHARING, this._reviewer).catch(unlessNotSaved); // else it is asked the next time, too
    return view;
  }

  /** @param {boolean} shares @returns {Payload} */
  _agreed(shares) {
    const before = this._progress.person.consent;
    if (before) return { ...before, wall: this._record.wall(), share_corrections: shares };
    const { text, language } = textIn(this.manifest, 'consent', this.words.reads);
    return this._record.agreed(text, this.words.language, shares, versionOf(this.manifest) >= 3 ? language : null);
  }

  /** Rate the item that is shown, or answer the training item. @param {string} item @param {Rating} rating */
  rate(item, rating, override = false) {
    const notMeant = this._notMeant(item, true);
    if (notMeant) return notMeant;
    if (this.translating) return this._trouble(this.words.say(messages.ASKS_FOR_TRANSLATIONS));
    if (this._view.phase === 'training') return this._train(item, rating);
    return this._decide({ kind: 'rate', ...this._judged(item, override), rating }, messages.rated(this.words, rating));
  }

  /** @param {string} item @param {Rating} given */
  _train(item, given) {
    const { rating: expected = given, explanation = '' } = this._batch.training.find((exercise) => exercise.id === item) ?? {};
    const course = this._course.with({ lesson: [this._place, { given, expected, explanation, note: '' }] });
    return this._done([{ kind: 'train', ...this._record.about(item), rating: given }], '', { course });
  }

  /** Decide that this person cannot judge the item; an office of an earlier version cannot read "not_shown". @param {string} item @param {string} why */
  cannotJudge(item, why, override = false) {
    const said = why === 'not_shown' && versionOf(this.manifest) < 3 ? 'unsaid' : why;
    const message = this.translating ? messages.NOT_TRANSLATED : messages.NOT_JUDGED;
    const judged = () => this._decide({ kind: 'cannot_judge', ...this._judged(item, override), why: said }, this.words.say(message));
    return this._notMeant(item) ?? judged();
  }

  /** Give the translation of the item that is shown; only where the batch asks for translations. @param {string} item @param {string} text */
  translate(item, text, override = false) { return this._translate(item, text, override); }

  /** @param {string} item @param {string} typed @param {boolean} override */
  _translate(item, typed, override) {
    const notMeant = this._notMeant(item);
    if (notMeant) return notMeant;
    const text = strip(storable(typed));
    if (!this.translating) return this._trouble(this.words.say(messages.ASKS_FOR_RATINGS));
    if (!text) return this._trouble(this.words.say(messages.NOTHING_WRITTEN));
    if (length(text) > MOST_TEXT) return this._tooLong(item, 'translation', text);
    const message = this.words.say(messages.TRANSLATED);
    if (text !== this._progress.written(item, 'translation'))
      return this._decide({ kind: 'translate', ...this._judged(item, override), text }, message);
    const { texts, drafts } = this._record.typedAbout(item);
    drafts.push({ item, field: 'translation', text: null });
    return this._done(texts, message, { course: this._course.goingTo(null), drafts });
  }

  /** Move the item that is shown to the end; in practice, skip all of it that waits. @param {string} item */
  skip(item) {
    if (this._place.phase === 'training') {
      const skipped = this._course.exercises(this._progress).map((waiting) => this._skipped(waiting));
      return this._done(skipped, this.words.say(messages.PRACTICE_IS_OVER), { course: this._course.with({ lesson: null }) });
    }
    const course = this._course.decided({ putAside: item });
    const message = messages.putAside(this.words, this._view.phase === 'skipped');
    return this._notMeant(item) ?? this._done([this._skipped(item)], message, { course });
  }

  /** @param {string} item @returns {Payload} */
  _skipped(item) { return { kind: 'skip', ...this._record.about(item) }; }

  /** Undo the last decision with its reasons; its item is shown again. */
  undo() {
    if (this._view.item && !this.time.takesKeys()) return this._tooSoon();
    const target = this._progress.lastAct;
    const decision = target === undefined ? undefined : this._progress.decisions.get(target);
    if (!JUDGING.includes(this._view.phase) || target === undefined || !decision)
      return this._say(this.words.say(messages.NOTHING_TO_TAKE_BACK));
    const { beside, drafts } = this._record.undoneBeside(target, decision);
    return this._done(
      [...beside, { kind: 'undo', ...this._record.who(), target }],
      messages.takenBack(this.words, decision, beside, this.translating),
      { course: this._course.goingTo(decision.item), drafts },
    );
  }

  /** Finish a lesson or a rest, or start with the items that were put aside. */
  goOn() {
    const practised = this._place.phase === 'training';
    this._course = this._course.goingOn(this._progress, this._place);
    const over = practised && this._course.place(this._progress).phase !== 'training';
    return this._say(over ? this.words.say(messages.PRACTICE_IS_OVER) : '');
  }

  /** Show the next item without an answer, after the last one the first. */
  goToUnrated() {
    if (!JUDGING.includes(this._view.phase)) return this._view;
    const item = this._course.nextUnrated(this._progress, this._view.item?.id ?? null);
    return item === undefined ? this._say(this.words.say(messages.ALL_ANSWERED)) : this._goTo(item);
  }

  /** Show the next item with words that are not saved, after the last one the first. */
  goToUnsaved() {
    const { unsaved, item: shown, phase } = this._view;
    const here = this._progress.number(shown?.id ?? '');
    const next = unsaved.find(({ number }) => number > here) ?? unsaved[0];
    if (!JUDGING.includes(phase) || !next) return this._say(this.words.say(messages.ALL_SAVED));
    this._goTo(next.item);
    return this._say(this.words.say(messages.NOT_SAVED_HERE));
  }

  /** Show an item of this person out of turn; null goes back to where they were without it. @param {string | null} item */
  goTo(item) { return this._goTo(item); }

  /** @param {string | null} item */
  _goTo(item) {
    if (!JUDGING.includes(this._view.phase) || !(item === null || this._progress.number(item))) return this._view;
    this._course = this._course.goingTo(item);
    return this._say('');
  }

  /** The items that this person decided about, in their order, with what they said of each. */
  answered() { return this._picture.answered(this._course, this._progress); }

  /** Record what is wrong with the item that is shown or was judged last. @param {string} item @param {string[]} reasons */
  setReasons(item, reasons) {
    if (!this._atHand(item)) return this._view;
    const chosen = Object.keys(REASONS).filter((reason) => reasons.includes(reason));
    return this._done([{ kind: 'reasons', ...this._record.about(item), reasons: chosen }], messages.reasons(this.words, chosen));
  }

  /** Store what is being typed, so that no crash loses it; rejects with NotSaved, and tries again with what comes next. @param {string} item @param {TextField} field @param {string} text */
  keepDraft(item, field, text) { return this._keepDraft(item, field, text); }

  /** @param {string} item @param {TextField} field @param {string} text */
  async _keepDraft(item, field, text) {
    this.touched();
    if (!this._atHand(item) || (this._progress.wordsWithdrawn && field !== 'translation')) return;
    try {
      await this._record.drafts.keep(item, field, text, this._progress.written(item, field));
    } finally {
      this._view = { ...this._drawn(), said: this._view.said };
    }
  }

  /** Save a comment or a better wording; an empty one takes it back. A translation is an answer. @param {string} item @param {TextField} field @param {string} text */
  saveText(item, field, text) {
    if (field === 'translation') return this._translate(item, text, false);
    this.touched();
    if (!this._atHand(item)) return this._view;
    if (this._progress.wordsWithdrawn) return this._trouble(messages.noMoreWords(this.words, this.translating));
    const typed = strip(storable(text));
    if (length(typed) > MOST_TEXT) return this._tooLong(item, field, typed);
    const kind = /** @type {'comment' | 'suggest'} */ (KIND_OF[field]);
    const drafts = [{ item, field, text: null }];
    return this._done([{ kind, ...this._record.about(item), text: typed }], messages.text(this.words, field, typed), { drafts });
  }

  /** Call an item harmful or culturally wrong, or take that back. @param {string} item @param {boolean} harmful */
  flagHarm(item, harmful) {
    if (!this._atHand(item)) return this._view;
    return this._done([{ kind: 'harm', ...this._record.about(item), harmful }], messages.harm(this.words, harmful));
  }

  /** Withdraw what this person gave, and erase it from this device. @param {Scope} scope */
  withdraw(scope) {
    const batch = scope === 'everything' ? null : this.manifest.batch;
    /** @type {Payload} */
    const payload = { kind: 'withdraw', wall: this._record.wall(), reviewer: this._record.reviewer, batch, scope };
    return this._done([payload], messages.withdrawn(this.words, scope, this.translating), { then: () => this._record.reread() });
  }

  /** The sealed file of everything about this batch. */
  async export() {
    const events = exportEvents(this._laptop.events, this.manifest);
    return ratingsFile(events, this._batch, this._laptop.identity, this._record.reviewer, this._readme, this._laptop.store.random);
  }

  /** Note that a file was saved; a note that cannot be kept takes nothing from the file. @param {{events: number, head: string}} file */
  async exported({ events, head }) {
    const note = { kind: /** @type {const} */ ('export'), wall: this._record.wall(), batch: this.manifest.batch, events, head };
    await this._laptop.record([note]).catch(unlessNotSaved);
    this._record.reread();
    return this._say('');
  }

  /** End the sitting: no key does anything any more. */
  close() {
    this.time.reset();
    return this._record.drafts.keepHeld().catch(unlessNotSaved);
  }

  /** @param {string} item @param {boolean} override */
  _judged(item, override) {
    return this._record.decided(item, { active_ms: this.time.milliseconds(), font: this.font, override });
  }

  /** What to show of a key that cannot mean this item; null where it is shown, and not only just now. @param {string} item */
  _notMeant(item, training = false) {
    const view = this._view;
    const lessons = training && view.phase === 'training' && !view.lesson;
    if (view.item?.id !== item || !(lessons || ANSWERING.includes(view.phase))) return view;
    return this.time.takesKeys() ? null : this._tooSoon();
  }

  _tooSoon() {
    this.time.tooSoon();
    return this._show({ ...this._drawn(), said: this.words.say(messages.TOO_SOON), too_soon: true });
  }

  /** Whether words can be said about this item: it is shown, or was judged last. @param {string} item */
  _atHand(item) {
    const { item: shown, last, phase } = this._view;
    return (shown?.id === item && ANSWERING.includes(phase)) || last?.item.id === item;
  }

  /** Store an answer, and with it what was typed about its item. @param {Payload} judged @param {string} said */
  async _decide(judged, said) {
    const { texts, drafts } = this._record.typedAbout(judged.item);
    if (judged.kind === 'translate') drafts.push({ item: judged.item, field: 'translation', text: null });
    const message = messages.withTexts(this.words, said, texts);
    const view = await this._done([...texts, judged], message, { course: this._course.decided(), drafts });
    if (view.trouble || !view.item || !this._parts.endWith(view.done)) return view;
    this._course = this._course.decided({ rest: true });
    return this._say(message);
  }

  /** Make events and changes of drafts durable, all or none; only then show what follows. @param {Payload[]} payloads @param {string} said @param {Following} following */
  async _done(payloads, said = '', { course, drafts = [], then } = {}) {
    try {
      await this._record.keep(payloads, drafts, this.words.language);
      then?.();
    } catch (error) {
      return this._trouble(...trouble(this.words, error));
    }
    this._course = course ?? this._course;
    return this._say(said);
  }

  /** @param {string} said */
  _say(said) { return this._show({ ...this._drawn(), said }); }

  /** @param {string} said @param {string} detail */
  _trouble(said, detail = '') { return this._show({ ...this._drawn(), trouble: said, detail }); }

  /** @param {View} view */
  _show(view) {
    if (view.item?.id !== this._view.item?.id) this.time.reset();
    this._view = view;
    return view;
  }

  _drawn() {
    this._place = this._course.place(this._progress);
    return this._picture.view(this._course, this._progress, this._place, this._words);
  }

  /** Store as much as can be kept, and show that it is too much. @param {string} item @param {TextField} field @param {string} typed */
  async _tooLong(item, field, typed) {
    await this._keepDraft(item, field, typed);
    return this._trouble(messages.tooLong(this.words, length(typed)));
  }
}

// Each act waits for those that were begun before it; what one act needs of another has a name with an underscore
for (const name of /** @type {const} */ ([
  'agree', 'relate', 'share', 'rate', 'cannotJudge', 'translate', 'skip', 'undo', 'goOn', 'goToUnrated', 'goToUnsaved', 'goTo',
  'setReasons', 'keepDraft', 'saveText', 'flagHarm', 'withdraw', 'export', 'exported', 'close',
])) {
  /** @type {(...facts: any[]) => any} */ const act = Session.prototype[name];
  /** @type {any} */ (Session.prototype)[name] = async function (/** @type {any[]} */ ...facts) {
    const turn = this._turn.then(() => act.apply(this, facts));
    this._turn = turn.catch(() => undefined);
    return turn;
  };
}

/** @param {unknown} error */
function unlessNotSaved(error) { if (!(error instanceof NotSaved)) throw error; }
