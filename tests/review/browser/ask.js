// Calls functions of the built page for tests: `{name, args}` in, the result out; bytes are `{"$": base64}`, a refusal is `{"refused": problem}`.
const X = globalThis.Rosetta;
const random = (count) => crypto.getRandomValues(new Uint8Array(count));

const OWN = {
  harmless_of: (codes) => codes.map((code) => X.harmless(String.fromCodePoint(code))),
  kept_of: (codes) => codes.map((code) => X.asKept(String.fromCodePoint(code))),
  acts_of: (codes) => codes.map((code) => X.actOf(String.fromCodePoint(code)) ?? null),
  seal: (data, recipients) => X.seal(data, recipients, random),
  unseal: (data, secrets) => X.unseal(data, secrets.map(X.secretOf)),
  sealWithPassphrase: (data, words) => X.sealWithPassphrase(data, words, random),
  recipient: (secret) => X.recipientOf(X.secretOf(secret)),
  phrase: (digest, list) => [X.usePhraseWords(list), X.phrase(digest), X.earlierPhrase(digest)].slice(1),
  events: (payloads, places) => payloads.map((payload, at) => X.line(X.readEvent(JSON.parse(X.line(X.makeEvent(payload, places[at])))))),
  signed: (lines, batch, identity, readme) => X.signRatings(lines.map((line) => X.readEvent(JSON.parse(line))), X.openBatch(batch), identity, readme).bytes,
  batch: (data, passphrase) => (({ manifest, items, training, fonts, sha256 }) => ({ manifest, items, training, fonts, sha256 }))(X.openBatch(data, { passphrase })),
  words: (catalogue, plurals, said, rating) => {
    const words = new X.Words(JSON.parse(catalogue));
    return [plurals.map((facts) => words.plural(...facts)), said.map((text) => words.say(text, { rating }))];
  },
  record: (place, other) => {
    const key = random(32);
    return X.text(X.openRecord(key, other, X.sealRecord(key, place, X.utf8('text'), random)));
  },
};

const read = (value) => {
  if (Array.isArray(value)) return value.map(read);
  return value && typeof value === 'object' && '$' in value ? X.unbase64(value.$) : value;
};
const written = (_, value) => (value instanceof Uint8Array ? { $: X.base64(value) } : value);

globalThis.ask = async ({ name, args }) => {
  try {
    return JSON.parse(JSON.stringify((await (OWN[name] ?? X[name])(...args.map(read))) ?? null, written));
  } catch (error) {
    return { refused: error.problem ?? String(error) };
  }
};

/** A person who goes on in a second store with what the first one sealed for that; gives the sealed file of ratings. */
globalThis.goOn = async ({ batch, person, words, readme, list }) => {
  X.usePhraseWords(list);
  const facts = { batch: X.openBatch(read(batch)), reviewer: person, face: 'browser', words: new X.Words(words), version: '1', guard: 0, readme };
  const begun = async (changes) => {
    const store = { random, append: async (change) => changes.push(change), rewrite: async (change) => changes.splice(0, changes.length, change) };
    const laptop = X.Laptop.replay(changes, store);
    return { laptop, sit: () => new X.Session({ ...facts, laptop, clock: () => 1, now: () => new Date(0) }) };
  };
  const rate = async (session, rating) => {
    session.painted(session.view.item.id);
    await session.rate(session.view.item.id, rating);
  };
  const first = await begun([]);
  const there = first.sit();
  await there.agree(true);
  await rate(there, 'gist');
  await there.saveText(there.view.last.item.id, 'comment', 'before');
  const carried = X.sealWithPassphrase(X.utf8(JSON.stringify(first.laptop.snapshot())), 'one two three four', random);
  const second = await begun([]);
  await second.laptop.absorb(JSON.parse(X.text(X.unsealWithPassphrase(carried, 'one two three four'))));
  const here = second.sit();
  await rate(here, 'excellent');
  const { bytes, phrase, events } = await here.export();
  return { bytes: { $: X.base64(bytes) }, phrase, events, done: here.view.done, devices: [first.laptop.device, second.laptop.device] };
};
