// Which mutants of the page's rules do sittings notice? `node mutants.js WEB SITTINGS PLAY` with mutants as JSON lines on standard input;
// SITTINGS has one line for each sitting: its script and what it shows. Each line out: null, or the sitting that a mutant shows otherwise.
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { isDeepStrictEqual } = require('node:util');

const [web, sittings, play] = process.argv.slice(2);
const { build } = createRequire(join(web, 'package.json'))('esbuild');
const read = (path) => readFileSync(path, 'utf-8');
const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));

async function bundled({ file, before, after }) {
  const mutated = join(web, file);
  const source = read(mutated);
  const onLoad = () => ({ contents: source.replace(before, () => after) });
  const plugin = { name: 'mutant', setup: (on) => on.onLoad({ filter: /\.js$/ }, ({ path }) => (path === mutated ? onLoad() : undefined)) };
  const options = { entryPoints: [join(web, 'main.js')], bundle: true, write: false, format: 'iife', globalName: 'Rosetta', target: 'es2022' };
  return (await build({ ...options, plugins: [plugin] })).outputFiles[0].text;
}

(async () => {
  const known = lines(read(sittings)).sort((a, b) => a.script.steps.length - b.script.steps.length);
  for (const mutant of lines(read(0))) {
    globalThis.Rosetta = new Function(`${await bundled(mutant)}; return Rosetta`)();
    new Function(read(play))();
    let noticed = null;
    for (const { name, script, result } of known) {
      const shown = await globalThis.play(script).catch(String);
      if (isDeepStrictEqual(JSON.parse(JSON.stringify(shown)), result)) continue;
      noticed = name;
      break;
    }
    process.stdout.write(`${JSON.stringify(noticed)}\n`);
  }
})();
