// The settings, of which every change is seen at once; the help; taking back, and deleting everything.
import { textIn } from '../core/batch.js';
import { BACKSPACE, KEYS, RATINGS, SCOPES, actOf } from '../session/labels.js';
import { given } from '../session/picture.js';
import { msgid } from '../session/words.js';
import { button, folded, h, p } from './dom.js';
import { howTo, languages } from './first.js';
import { choices, labelled, organiserText } from './parts.js';

/** @import {Scope} from '../types.js' */
/** @import {App} from './app.js' */
/** @typedef {import('../session/session.js').Session} Session */

const SIZE_NAMES = [msgid('Small letters'), msgid('Usual letters'), msgid('Larger letters'), msgid('Large letters'), msgid('Very large letters'), msgid('Largest letters')];
/** @type {Record<string, string>} */
const THEMES = { light: msgid('Light'), dark: msgid('Dark'), contrast: msgid('High contrast') };

/** True where everything is to be deleted. @param {App} app @returns {Promise<boolean>} */
export const askSettings = (app) =>
  app.ask((answer) => {
    const spoken = languages(app, app.session?.manifest ?? null);
    const one = (/** @type {string} */ title, /** @type {[string, string][]} */ values, /** @type {(value: string) => unknown} */ choose, /** @type {string} */ now) => [
      h('h2', {}, title), h('div', { class: 'offers', role: 'group', 'aria-label': title }, ...values.map(([label, value]) => button(label, () => choose(value), { pressed: value === now }))),
    ];
    const after = (/** @type {Promise<unknown>} */ set) => set.then(() => app.redraw());
    return {
      title: app.say('Settings'), plain: true,
      body: [
        ...one(app.say('Size of the letters'), SIZE_NAMES.map((name, at) => [app.say(name), String(at)]), (size) => after(app.resize(Number(size) - app.size)), String(app.size)),
        ...one(app.say('Colours'), labelled(app.words, THEMES), (theme) => ((app.theme = theme), after(app.set('theme', theme))), app.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')),
        ...one(app.say('Language'), [...spoken.names].map(([tag, name]) => [name, tag]), spoken.choose, app.words.chosen),
        h('h2', {}, app.say('About this program')), p(app.say('Rosetta, version {version}', { version: app.facts.version })), p(app.say('This program sends nothing over the internet.')),
        folded(app.say(msgid('Licences')), h('pre', { lang: 'en', dir: 'ltr' }, app.facts.licences)),
        app.laptop && button(app.say('Delete everything from this computer …'), () => answer(true), { act: 'erase' }),
      ],
      foot: [app.back(() => answer(false))], back: () => answer(false), enter: () => answer(false),
    };
  });

/** @type {[act: string, label: string, translating?: string][]} */
const HELP = [
  ['cannot_judge', msgid('I cannot judge this one'), msgid('I cannot translate this one')], ['skip', msgid('Leave it for later')], ['undo', msgid('Take back the last answer')],
  ['reasons', msgid('Say what is wrong with the one you just answered'), ''], ['comment', msgid('Write a comment')], ['wording', msgid('Write a better translation'), ''],
  ['harm', msgid('This is harmful or hurts our culture')], ['unrated', msgid('Go to the next one without an answer')], ['unsaved', msgid('Go to what you wrote and did not save')],
  ['larger', msgid('Larger letters')], ['smaller', msgid('Smaller letters')], ['hand_over', msgid('Hand in your answers')],
  ['sharing', msgid('Say whether your better translations may be used'), msgid('Say whether your translations may be used')],
  ['withdraw', msgid('Take back everything you gave')], ['help', msgid('Help')], ['quit', msgid('Stop for now; everything is kept')],
];

/** @param {App} app @param {Session} session @returns {Promise<void>} */
export const showHelp = (app, { manifest, words, translating }) =>
  app.ask((answer) => {
    const keys = (/** @type {string} */ act) => (KEYS[act] ?? []).map((key) => (key === BACKSPACE ? app.say('Backspace') : key)).join('  ');
    const row = (/** @type {string} */ key, /** @type {string} */ label) => h('tr', {}, h('th', { scope: 'row' }, key), h('td', {}, label));
    const ratings = Object.entries(RATINGS).map(([rating, [label, meaning]]) => row(keys(rating), `${app.say(label)} – ${app.say(meaning)}`));
    const rest = HELP.filter(([, , other]) => !translating || other !== '').map(([act, label, other]) => row(translating ? app.say('Esc, then {key}', { key: keys(act) }) : keys(act), app.say((translating && other) || label)));
    const guide = given(words, manifest, textIn(manifest, 'guide', words.reads));
    const enter = [row(app.say('Enter'), app.say('Save and continue')), row(`${app.say('Shift')}+${app.say('Enter')}`, app.say('Begin a new line'))];
    return {
      title: app.say('Help'), plain: true,
      body: [
        h('p', { class: 'strong' }, app.say(translating ? msgid('Write your translation and press Enter: that saves it and shows the next sentence.') : msgid('One key gives your answer, saves it and shows the next sentence.'))),
        p(app.say('Every key has a button too.')), h('table', {}, ...(translating ? enter : ratings), ...rest),
        p(app.say(msgid('Your answers stay in this browser, for this file where it lies now. A private window, or clearing the browser, loses them: hand in before.'))),
        guide.text && h('h2', {}, howTo(app, manifest)), ...(guide.text ? organiserText(guide) : []),
      ],
      foot: [app.back(() => answer(undefined))], back: () => answer(undefined), enter: () => answer(undefined), keys: (typed) => actOf(typed) === 'help' && (answer(undefined), true),
    };
  });

/** What is taken back; null keeps everything. @param {App} app @param {Session} session @returns {Promise<Scope | null>} */
export function askWithdraw(app, { translating }) {
  /** @type {Scope | null} */
  let scope = null;
  return app.ask((answer) => {
    const choose = (/** @type {Scope} */ chosen) => ((scope = chosen), app.redraw());
    const scopes = translating ? { ...SCOPES, comments: msgid('My comments here; my translations stay') } : SCOPES;
    const asked = choices(labelled(app.words, scopes), choose, scope ? [scope] : [], app.say('What do you want to take back?'));
    const erase = () => answer(scope);
    const sure = scope && h('p', { class: 'warn', role: 'alert', tabindex: '-1' }, app.say('This cannot be undone. Choose “{button}” to erase it, or Esc to keep everything.', { button: app.say('Erase it') }));
    return {
      title: app.say('Take back'),
      body: [
        h('p', { class: 'strong' }, app.say('You may take back what you gave, at any time and without a reason.')),
        p(app.say(msgid('What you choose is erased in this browser. A file that you handed in cannot be called back; the next one tells the organisation to erase it too. A browser does not promise to overwrite the disk at once.'))),
        p(app.say('What do you want to take back?')), asked.node, sure, scope && button(app.say('Erase it'), erase, { key: 'w', act: 'erase' }),
      ],
      foot: [button(app.say('Keep everything'), () => answer(null), { main: true, key: app.say('Enter'), act: 'keep' })],
      keys: (typed) => asked.typed(typed) || (actOf(typed) === 'withdraw' && scope !== null && (erase(), true)), enter: () => answer(null), back: () => answer(null), focus: sure,
    };
  });
}

/** Whether to delete everything. @param {App} app @returns {Promise<'delete' | 'hand_over' | null>} */
export const askErase = (app) =>
  app.ask((answer) => {
    const sure = h('input', { type: 'checkbox', id: 'sure', onchange: () => (erase.disabled = !sure.checked) });
    const erase = button(app.say('Delete everything'), () => answer('delete'), { off: true, act: 'delete' });
    const waits = app.session !== null && !app.session.view.handed_over && app.session.view.done > 0;
    return {
      title: app.say('Delete everything from this computer'), plain: true,
      body: [
        waits && h('p', { class: 'warn' }, app.words.plural('What was said about {n} sentence is only on this computer. It would be lost.', 'What was said about {n} sentences is only on this computer. It would be lost.', app.session?.view.done ?? 0)),
        p(app.say('All sentences, answers, comments, settings and the keys of this computer are deleted, of everybody who answered here.')), p(app.say('What was handed in stays with the organisation.')),
        h('label', { class: 'tick' }, sure, h('span', {}, app.say('I want this, and I know that it cannot be undone.'))), erase,
      ],
      foot: [waits && button(app.say('Hand in first'), () => answer('hand_over'), { main: true }), button(app.say('Keep everything'), () => answer(null), { main: !waits, key: 'Esc' })],
      back: () => answer(null), enter: () => answer(waits ? 'hand_over' : null),
    };
  });
