// The pages before the first sentence: which words open the file, who asks, whose card it is, and what is agreed to.
import { textIn } from '../core/batch.js';
import { ALPHABET } from '../core/codes.js';
import { keyPhrase } from '../core/phrase.js';
import { RELATIONS } from '../session/labels.js';
import { given } from '../session/picture.js';
import { PART } from '../session/progress.js';
import { msgid } from '../session/words.js';
import { button, folded, h, p } from './dom.js';
import { choices, labelled, letterRow, organiserText, secondLook } from './parts.js';

/** @import {Batch, BatchManifest, Relation, View} from '../types.js' */
/** @import {App, Page} from './app.js' */
/** @typedef {import('../session/session.js').Session} Session */
/** @template T @typedef {(given: T) => void} Answer */

const IN_HALL = msgid('Nothing is sent over the internet. Your answers go to the organiser’s computer in this network, sealed for the organisation.');

/** Other languages, at the top, where anyone finds their own. @param {App} app @param {BatchManifest | null} manifest */
export function languages(app, manifest = null) {
  const names = new Map(Object.entries(app.facts.catalogues).map(([tag, { name }]) => [tag, name]));
  for (const tag of manifest ? [manifest.language, ...Object.keys(manifest.translations ?? {})] : [])
    if (![...names.keys()].some((spoken) => app.words.same(spoken, tag))) names.set(tag, app.words.languageName(tag));
  const choose = async (/** @type {string} */ tag) => {
    app.speak(tag);
    await app.set('language', tag);
    app.redraw();
  };
  const others = [...names].filter(([tag]) => tag !== app.words.chosen);
  return { names, choose, node: h('div', { class: 'offers' }, ...others.map(([tag, name]) => button(name, () => choose(tag)))) };
}

/**
 * A line to type, with its letters as buttons, for those who have a mouse alone.
 * @param {App} app @param {{asked: string, about?: string, letters?: string, typed?: string}} line @param {(typed: string) => unknown} go
 */
function typedLine(app, { asked, about = '', letters = '', typed = '' }, go) {
  const box = h('input', { id: 'typed', value: typed, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', maxlength: '400', 'aria-describedby': about ? 'about' : null });
  const row = letterRow(app.words, [...letters].filter((letter) => letter.trim()), () => box, 40);
  const enter = async () => {
    if (!box.value.trim()) return box.focus();
    app.tell(app.say(msgid('Opening …')));
    await new Promise((resolve) => setTimeout(resolve, 20)); // what was said is painted first
    go(box.value);
  };
  const nodes = [h('label', { for: 'typed', class: 'strong' }, asked), box, about && h('p', { id: 'about', class: 'quiet' }, about), row && h('details', { class: 'mouse' }, h('summary', {}, app.say(msgid('Letters to click'))), row)];
  return { nodes, box, enter, button: app.way(app.say('Continue'), enter) };
}

/** A line for the code on the card. @param {App} app @param {string} typed @param {(typed: string) => unknown} go */
export const codeLine = (app, typed, go) => typedLine(app, { asked: app.say('Which code is on your card?'), letters: ALPHABET, typed }, go);

/** @param {App} app @param {string} trouble @returns {Promise<string>} */
export const askSecret = (app, trouble) =>
  app.ask((answer) => {
    const about = app.say('Type them with a space between them. Opening takes a few seconds.');
    const line = typedLine(app, { asked: app.say('Which secret words are on your card?'), about, letters: 'abcdefghijklmnopqrstuvwxyz ' }, answer);
    return { title: app.say('Open the file'), body: [languages(app).node, ...line.nodes], foot: [line.button], enter: line.enter, focus: line.box, trouble };
  });

/** Who asks, and whose card it is, on one page; empty where the person began elsewhere. @param {App} app @param {Batch} batch @param {string} trouble @param {string} typed @returns {Promise<string>} */
export const askCode = (app, { manifest }, trouble, typed) =>
  app.ask((answer) => {
    const line = codeLine(app, typed, answer);
    const known = app.laptop?.setting('trusted');
    const asks = [
      p(app.say('These sentences come from:'), ' ', h('b', {}, manifest.organisation.name)),
      p(app.say('Its six words are:')),
      h('p', { class: 'phrase', lang: 'en', dir: 'ltr' }, keyPhrase(manifest.organisation.signing_key, Number(manifest.format.split('/')[1]) < 3)),
      p(app.say('Compare them with the words on your card. If they differ, stop and ask.')),
    ];
    const elsewhere = button(app.say(msgid('I began before')), () => answer(''), { act: 'restore' });
    return {
      title: manifest.title.trim(), body: [languages(app, manifest).node, ...(known ? [] : asks), ...line.nodes], trouble,
      foot: [line.button, app.keeps ? elsewhere : null], enter: line.enter, focus: line.box,
    };
  });

/** Whether it is the person who was here last; true for them. @param {App} app @param {Batch} batch @param {{letters: string, done: number, total: number}} last @param {string} said @returns {Promise<boolean>} */
export const askWhoIsHere = (app, { manifest }, { letters, done, total }, said) =>
  app.ask((answer) => ({
    title: app.say('Welcome back'),
    body: [
      languages(app, manifest).node, h('p', { class: 'strong' }, manifest.title), p(app.say('{done} of {total} done', { done, total })),
      p(app.say('The code on your card begins with:')), h('p', { class: 'phrase' }, `${letters} …`),
    ],
    said, foot: [button(app.say('This is my card'), () => answer(true)), button(app.say('I have another card'), () => answer(false))],
  }));

/** @param {App} app @param {Session} session @returns {Promise<boolean>} */
export const askConsent = (app, session) =>
  app.ask((answer) => {
    const { words, view, manifest } = session;
    const agree = app.way(app.say('I agree'), () => enter());
    const label = /** @type {HTMLElement} */ (agree.querySelector('span'));
    const end = h('div', { class: 'end' });
    const guide = given(words, manifest, textIn(manifest, 'guide', words.reads));
    const unseen = () => end.getBoundingClientRect().bottom > app.low + 4;
    const draw = () => (label.textContent = app.say(unseen() ? msgid('Read on') : msgid('I agree')));
    const enter = () => (unseen() ? (scrollBy({ top: innerHeight * 0.6 }), setTimeout(draw, 30)) : answer(true));
    const controller = new AbortController();
    for (const name of ['scroll', 'resize']) addEventListener(name, () => (agree.isConnected ? draw() : controller.abort()), { signal: controller.signal });
    requestAnimationFrame(draw);
    return {
      title: app.say('Before you begin'),
      body: [
        languages(app, manifest).node, p(whatComes(app, manifest, view)), ...secondLook(words, manifest),
        ...organiserText(given(words, manifest, textIn(manifest, 'consent', words.reads))),
        p(app.say(app.facts.hall ? IN_HALL : app.keeps ? msgid('Nothing is sent over the internet. Your answers stay on this computer until you hand them over.') : msgid('Nothing is sent over the internet.'))),
        manifest.labels.length ? h('p', { class: 'quiet' }, manifest.labels.join(' · ')) : null,
        guide.text && folded(howTo(app, manifest), ...organiserText(guide)), end,
      ],
      foot: [agree, app.back(() => answer(false), app.say('Not now'))],
      enter, back: () => answer(false),
    };
  });

/** @param {App} app @param {BatchManifest} manifest */
export const howTo = (app, { task }) => (task === 'translate' ? app.say('How to translate') : app.say('How to judge'));

/** @param {App} app @param {BatchManifest} manifest @param {View} view */
function whatComes({ words }, { task }, { total, minutes }) {
  const asked = task === 'translate'
    ? words.plural('You will see {n} sentence and write it in your language.', 'You will see {n} sentences and write each one in your language.', total)
    : words.plural('You will see {n} translated sentence and say how good it is.', 'You will see {n} translated sentences and say how good each one is.', total);
  const time = total <= PART
    ? words.plural('That takes about {n} minute.', 'That takes about {n} minutes.', minutes)
    : words.plural('Ten of them take about {n} minute; then you can pause.', 'Ten of them take about {n} minutes; then you can pause.', minutes);
  return `${asked} ${time}`;
}

/** @param {App} app @param {Session} session @param {string} trouble @returns {Promise<Relation | null>} */
export const askRelation = (app, session, trouble) =>
  app.ask((answer) => {
    const question = app.say('A computer program made the translations. Did you take part in making it?');
    const asked = choices(labelled(app.words, RELATIONS), answer, [], question);
    return {
      title: app.say('Before you begin'),
      body: [
        h('p', { class: 'strong' }, question),
        folded(app.say(msgid('Why we ask')), p(app.say('Every answer is welcome, and each counts the same. The result says how many people gave which answer, and no names.'))),
      ],
      foot: [asked.node, app.back(() => answer(null))], keys: asked.typed, back: () => answer(null),
      enter: () => app.tell(app.say('Press 1, 2 or 3.')), trouble,
    };
  });

/** Ask once, before the first better translation, whether such may be used; false where the person goes back. @param {App} app @param {Session} session */
export async function maySuggest(app, session) {
  if (app.laptop?.setting('asked sharing') === app.reviewer) return true;
  const shares = await askSharing(app, session, session.view.shares || null);
  if (shares === null) return false;
  await session.share(shares);
  await app.set('asked sharing', app.reviewer);
  return true;
}

/** Whether what the person writes may be used; null goes back. @param {App} app @param {Session} session @param {boolean | null} now what holds @param {string} trouble @returns {Promise<boolean | null>} */
export const askSharing = (app, { manifest, translating }, now, trouble = '') =>
  app.ask((answer) => {
    const question = app.say(translating ? msgid('May your translations be used?') : msgid('May the better translations that you write be used?'));
    const asked = choices([[app.say('Yes, they may be used'), true], [app.say('No'), false]], answer, now === null ? [] : [now], question);
    const organisation = manifest.organisation.name;
    return {
      title: app.say(now === null ? msgid('Before you begin') : msgid('What may be used')),
      body: [
        h('p', { class: 'strong' }, question),
        p(app.say('If you say yes, {organisation} may put them into its collection of translations.', { organisation })),
        p(app.say('If you say no, they are handed over, but not used.')), p(app.say('You can change this at any time, and then hand over once more.')),
      ],
      foot: [asked.node, app.back(() => answer(null))], keys: asked.typed, back: () => answer(null),
      enter: () => app.tell(app.say('Press 1 for yes or 2 for no.')), trouble,
    };
  });
