// The pages before the first sentence: which words open the file, who asks, whose card it is, and what is agreed to.
import { textIn, version } from '../core/batch.js';
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

/** What stands below the first such line of a consent is folded. Binding: `consent` of review/session/words/page.py. */
const FOLD = /\n[ \t\r]*-{3,}[ \t\r]*\n([^]*)/;
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
  const nodes = [h('label', { for: 'typed', class: 'strong' }, asked), box, about && h('p', { id: 'about', class: 'quiet' }, about), row && h('details', { class: 'mouse' }, h('summary', {}, app.say(msgid('Letters'))), row)];
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
      p(app.say('Asked by:'), ' ', h('b', {}, manifest.organisation.name)),
      p(app.say('Its six words:')),
      h('p', { class: 'phrase', lang: 'en', dir: 'ltr' }, keyPhrase(manifest.organisation.signing_key, version(manifest) < 3)), p(app.say('Compare them with your card. If they differ, stop and ask.')),
    ];
    return {
      title: manifest.title.trim(), body: [languages(app, manifest).node, ...(known ? [] : asks), ...line.nodes], trouble,
      foot: [line.button, app.keeps && button(app.say(msgid('I began before')), () => answer(''), { act: 'restore' })], enter: line.enter, focus: line.box,
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
    const end = h('div', { class: 'end' });
    const guide = given(words, manifest, textIn(manifest, 'guide', words.reads));
    const consent = given(words, manifest, textIn(manifest, 'consent', words.reads));
    const [text = '', more = ''] = consent.text.split(FOLD);
    const unseen = () => end.getBoundingClientRect().bottom > app.low + 4;
    const draw = () => agree.querySelector('span')?.replaceChildren(app.say(unseen() ? msgid('Read on') : msgid('I agree')));
    const enter = () => (unseen() ? (scrollBy({ top: innerHeight * 0.6 }), setTimeout(draw, 30)) : answer(true));
    const controller = new AbortController();
    for (const name of ['scroll', 'resize', 'toggle']) addEventListener(name, () => (agree.isConnected ? draw() : controller.abort()), { signal: controller.signal, capture: true });
    requestAnimationFrame(draw);
    return {
      title: app.say('Before you begin'),
      body: [
        languages(app, manifest).node, p(whatComes(app, manifest, view)), ...secondLook(words, manifest),
        ...organiserText({ ...consent, text }), p(promises(app)), manifest.labels.length ? h('p', { class: 'quiet' }, manifest.labels.join(' · ')) : null,
        (more || guide.text) && folded(app.say(msgid('Read more')), ...organiserText({ text: more, note: '' }), guide.text && h('h2', {}, howTo(app, manifest)), ...organiserText(guide)), end,
      ],
      foot: [agree, app.back(() => answer(false), app.say('Not now'))],
      enter, back: () => answer(false), trouble: view.trouble,
    };
  });

/** What holds whatever the organisation wrote. @param {App} app */
const promises = ({ facts, keeps, words }) =>
  (facts.hall ? [IN_HALL] : [msgid('Nothing is sent over the internet.'), ...(keeps ? [msgid('Your answers stay on this computer until you hand them in.')] : [])])
    .concat(msgid('Nobody asks your name.'), msgid('You can stop, or take back what you gave, at any time.')).map((said) => words.say(said)).join(' ');

/** @param {App} app @param {BatchManifest} manifest */
export const howTo = (app, { task }) => (task === 'translate' ? app.say('How to translate') : app.say('How to judge'));

/** @param {App} app @param {BatchManifest} manifest @param {View} view */
const whatComes = ({ words }, { task }, { total, minutes }) => [
  task === 'translate' ? words.plural('{n} sentence to write in your language.', '{n} sentences to write in your language.', total) : words.plural('{n} translation to judge.', '{n} translations to judge.', total),
  total <= PART ? words.plural('That takes about {n} minute.', 'That takes about {n} minutes.', minutes) : words.plural('Ten take about {n} minute.', 'Ten take about {n} minutes.', minutes),
].join(' ');

/** @param {App} app @param {Session} session @param {string} trouble @returns {Promise<Relation | null>} */
export const askRelation = (app, session, trouble) =>
  app.ask((answer) => {
    const question = app.say('Did you take part in making the translation program?');
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
  const shares = session.asksSharing ? await askSharing(app, session, null) : null;
  if (shares !== null) await session.share(shares);
  return !session.asksSharing;
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
        p(app.say('If you say no, they are handed in, but not used.')), p(app.say('You can change this at any time, and then hand in once more.')),
      ],
      foot: [asked.node, app.back(() => answer(null))], keys: asked.typed, back: () => answer(null),
      enter: () => app.tell(app.say('Press 1 for yes or 2 for no.')), trouble,
    };
  });
