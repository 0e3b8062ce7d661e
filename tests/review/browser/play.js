// Plays scripts of a sitting with the built page, in node and in a browser: what each step shows, and the events at the end.
/* global Rosetta */

const R = globalThis.Rosetta;
const METHODS = {
  agree: 'agree', relate: 'relate', share: 'share', rate: 'rate', cannot_judge: 'cannotJudge', translate: 'translate', skip: 'skip',
  undo: 'undo', go_on: 'goOn', go_to_unrated: 'goToUnrated', go_to_unsaved: 'goToUnsaved', go_to: 'goTo', set_reasons: 'setReasons',
  keep_draft: 'keepDraft', save_text: 'saveText', flag_harm: 'flagHarm', withdraw: 'withdraw', close: 'close', touched: 'touched', painted: 'painted',
};

/** A sitting as tests/review/browser/scripts.py plays it in Python. */
class Play {
  constructor(script) {
    this.script = script;
    this.clock = script.clock;
    this.batches = script.batches.map(({ file, passphrase }) => R.openBatch(R.unbase64(file), { passphrase }));
    this.sessions = [];
    this.changes = [];
    this.drawn = this.saved = 0;
    this.keys = [R.unhex(script.seed), R.secretOf(script.age)];
    R.usePhraseWords(script.phrase_words);
    this.open();
  }

  open() {
    this.failures = [];
    this.laptop = R.Laptop.replay(this.changes, {
      random: (count) => this.random(count),
      append: async (change) => this.keep(change, [...this.changes, change]),
      rewrite: async (change) => this.keep(change, [change]),
    });
  }

  random(count) {
    if (count === 8) return R.unhex(this.script.device);
    if (count === 32) return this.keys.shift() ?? new Uint8Array(32);
    return R.unhex(R.sha256(`salt ${this.drawn++}`).slice(0, 32));
  }

  keep(change, changes) {
    if (this.failures.length && (change.events || change.drafts)) { // settings are kept apart from them in Python
      this.drawn = this.saved;
      throw new R.NotSaved(this.failures.shift(), 'told by the test');
    }
    this.changes = JSON.parse(JSON.stringify(changes));
    this.saved = this.drawn;
  }

  sit(batch, person) {
    const { words, face, version, font, guard, readme } = this.script;
    this.words ??= new R.Words(words.en);
    this.session = new R.Session({
      laptop: this.laptop, batch: this.batches[batch], reviewer: this.script.people[batch][person], face, words: this.words, version, font,
      guard, readme, clock: () => this.clock, now: () => new Date(Date.UTC(2026, 2, 2) + Math.floor(this.clock) * 1000),
    });
    this.sessions.push(this.session);
  }

  async do(act, args) {
    if (act in METHODS) {
      try {
        await this.session[METHODS[act]](...args);
      } catch (error) {
        return error instanceof R.NotSaved ? error.problem : Promise.reject(error);
      }
    } else if (act === 'sit') this.sit(...args);
    else if (act === 'use') this.session = this.sessions[args[0]];
    else if (act === 'fail') this.failures = [...args[0]];
    else if (act === 'words') this.session.words = this.words = new R.Words(this.script.words[args[0]]).reading(args[1] ?? '');
    else if (act === 'bring') {
      this.failures = [];
      await this.laptop.absorb({ events: [JSON.parse(args[0])] });
      await this.do('restart', args.slice(1));
    } else if (act === 'restart') {
      this.sessions = [];
      this.open();
      this.sit(...args);
    } else if (act === 'answered') return this.session.answered();
    else if (act === 'export') {
      const { drawn } = this;
      const file = await this.session.export();
      this.drawn = drawn; // what sealing drew
      await this.session.exported(file);
      return [file.name, file.phrase, file.events];
    } else throw new Error(`no act: ${act}`);
    return null;
  }

  async all() {
    const shown = [];
    for (const [act, args, seconds] of this.script.steps) {
      this.clock += seconds;
      const given = await this.do(act, args);
      shown.push({ given, view: this.session?.view ?? null, asks: this.session?.asksRelation ?? null });
    }
    return { shown, events: this.laptop.events.map(R.line), drafts: this.laptop.snapshot().drafts.sort() };
  }
}

globalThis.play = (script) => new Play(script).all();
