// The pages between sentences: a rest, what was left for later, the end, one's own answers, and after taking everything back.
import { KEYS, actOf, answerLabel, ratingLabel, sharing } from '../session/labels.js';
import { msgid } from '../session/words.js';
import { button, h, p } from './dom.js';
import { beginning, unsavedWords } from './parts.js';

/** @import {ShownItem, View} from '../types.js' */
/** @import {App, Page} from './app.js' */
/** @typedef {import('../session/session.js').Session} Session */
/** @typedef {'go_on' | 'undo' | 'hand_over' | 'sharing' | 'withdraw' | 'answers' | 'unsaved' | 'help' | 'quit' | 'resume'} Onward */

const ACTS = ['undo', 'hand_over', 'sharing', 'withdraw', 'unsaved', 'help', 'quit'];

/** What the person does next, where no sentence is shown. @param {App} app @param {Session} session @returns {Promise<Onward>} */
export const askNext = (app, session) =>
  app.ask((answer) => {
    const { view, translating } = session;
    const lead = (/** @type {Onward} */ onward, /** @type {string} */ label, main = false) =>
      button(label, () => answer(onward), { main, key: onward === 'go_on' ? app.say('Enter') : (KEYS[onward]?.[0] ?? ''), act: onward });
    const main = /** @type {Onward} */ (view.phase === 'end' ? (view.handed_over ? 'quit' : 'hand_over') : view.phase === 'withdrawn' ? 'hand_over' : 'go_on');
    const pages = { rest, skipped: later, end, withdrawn };
    const unsaved = unsavedWords(app.words, view);
    const page = pages[/** @type {keyof typeof pages} */ (view.phase)](app, session, lead);
    const changes = view.phase === 'withdrawn' ? [] : [
      view.done > 0 && lead('answers', app.say('Look at my answers again')), view.can_undo && lead('undo', app.say('Take back the last answer')),
    ];
    return {
      title: view.phase === 'withdrawn' ? app.say('Taken back') : app.say('{done} of {total}', { done: view.done, total: view.total }),
      ...page,
      body: [
        ...page.body, unsaved && h('p', { class: 'warn' }, unsaved), unsaved && lead('unsaved', app.say('Look at what is not saved')),
        translating && view.phase === 'end' && p(sharing(app.words, view.shares, true)), h('div', { class: 'offers' }, ...changes, ...(page.offers ?? [])),
      ],
      keys: (typed) => {
        const act = actOf(typed);
        if (!act || !ACTS.includes(act) || (act === 'undo' && !view.can_undo)) return false;
        answer(/** @type {Onward} */ (act));
        return true;
      },
      enter: () => answer(main), back: () => answer('quit'), said: view.said, trouble: view.trouble, detail: view.detail,
    };
  });

/** @typedef {(onward: Onward, label: string, main?: boolean) => HTMLButtonElement} Lead */
/** @typedef {{body: import('./dom.js').Child[], foot: import('./dom.js').Child[], offers?: import('./dom.js').Child[]}} Pause */

/** @param {App} app @param {Session} session @param {Lead} lead @returns {Pause} */
const rest = (app, { view }, lead) => ({
  body: [
    h('p', { class: 'strong' }, app.say('{done} done, {left} to go.', { done: view.done, left: view.total - view.done })),
    p(app.words.plural('At your pace, the next part takes about {n} minute.', 'At your pace, the next part takes about {n} minutes.', view.minutes)),
    p(app.say('Continue now, or stop here and continue another day: everything is kept.')),
  ],
  foot: [lead('go_on', app.say('Continue'), true), lead('quit', app.say('Stop for now'))],
});

/** @param {App} app @param {View} view */
const lookAtThem = ({ words }, { skipped }) => words.plural('Look at it', 'Look at them', skipped);

/** @param {App} app @param {Session} session @param {Lead} lead @returns {Pause} */
const later = (app, { view }, lead) => ({
  body: [
    h('p', { class: 'strong' }, app.say('You have seen all sentences.')),
    p(app.words.plural('You left {n} sentence for later. Look at it now?', 'You left {n} sentences for later. Look at them now?', view.skipped)),
  ],
  foot: [lead('go_on', lookAtThem(app, view), true), lead('quit', app.say('Stop for now'))],
  offers: [lead('hand_over', app.say('Hand in your answers')), lead('help', app.say('Help'))],
});

/** @param {App} app @param {Session} session @param {Lead} lead @returns {Pause} */
function end(app, session, lead) {
  const { view, translating } = session;
  const said = { handed: app.say('Handed in at {time}.', { time: view.handed_over }), done: app.say('You are done.') };
  const labels = { sharing: translating ? msgid('Say whether your translations may be used') : msgid('Say whether your better translations may be used') };
  return {
    body: [
      h('p', { class: 'good' }, app.say('That was the last one. Thank you!')), p(app.say('You answered {done} of {total}.', { done: view.done, total: view.total })),
      p(counts(app, session.answered())), view.handed_over ? h('p', { class: 'good' }, `${said.handed} ${said.done}`) : null,
      p(app.say(app.keeps ? msgid('Your answers stay on this computer too.') : msgid('Your answers are only in this window until you save them.'))),
    ],
    foot: [lead('hand_over', app.say('Hand in your answers'), !view.handed_over), lead('quit', app.say('Stop for now'), Boolean(view.handed_over))],
    offers: [
      view.skipped > 0 && lead('go_on', lookAtThem(app, view)), lead('sharing', app.say(labels.sharing)),
      lead('withdraw', app.say('Take back everything you gave')), lead('help', app.say('Help')),
    ],
  };
}

/** How often the person gave each answer; their own answers only. @param {App} app @param {ShownItem[]} answered */
function counts({ words }, answered) {
  const count = (/** @type {string | null} */ rating) => answered.filter((item) => item.rating === rating).length;
  const lines = ['excellent', 'acceptable', 'gist', 'reject'].filter(count).map((rating) => words.say('{answer}: {n}', { answer: ratingLabel(words, rating), n: count(rating) }));
  if (lines.length && count(null)) lines.push(words.say('{answer}: {n}', { answer: words.say('Could not judge'), n: count(null) }));
  return lines.join(' · ');
}

/** @param {App} app @param {Session} session @param {Lead} lead @returns {Pause} */
const withdrawn = (app, session, lead) => ({
  body: [
    h('p', { class: 'strong' }, app.say('What you gave for these sentences is erased on this computer.')),
    p(app.say(msgid('If you handed a file in before, hand one in once more: it tells the organisation to erase what it has.'))),
  ],
  foot: [lead('hand_over', app.say('Hand in your answers'), true), lead('quit', app.say('Stop for now'))],
});

/** One's own answers; the item to look at again, null for none. @param {App} app @param {Session} session @returns {Promise<string | null>} */
export const askAnswers = (app, session) =>
  app.ask((answer) => {
    const answered = session.answered();
    const { manifest, translating } = session;
    const rows = answered.map((item) => {
      const head = app.say('{number}: {answer}', { number: item.number, answer: answerLabel(app.words, item, translating) });
      const short = (/** @type {string} */ text) => beginning(text.split(/\s+/).join(' '));
      const source = h('span', { lang: manifest.source_language, dir: 'auto' }, short(item.source));
      const target = h('span', { lang: manifest.target_language, dir: 'auto' }, short(item.candidate || item.translation));
      return h('button', { type: 'button', class: 'row', onclick: () => answer(item.id) }, h('b', {}, head), source, target);
    });
    return {
      title: app.say('Your answers'),
      body: [p(app.say(answered.length ? msgid('Choose a sentence to look at it, and to change your answer.') : msgid('You have not answered anything yet.'))), h('div', { class: 'rows' }, ...rows)],
      foot: [app.back(() => answer(null))], back: () => answer(null), enter: () => answer(null),
    };
  });
