// Bundle the page's script, and the licences of what it brings along: `make web`. The same sources give the same bytes.
import { build } from 'esbuild';
import { readFile, writeFile } from 'node:fs/promises';

const [out] = process.argv.slice(2);
const { dependencies } = JSON.parse(await readFile('package.json', 'utf-8'));
await build({
  entryPoints: ['main.js'], bundle: true, minify: true, format: 'iife', globalName: 'Rosetta', target: 'es2022',
  charset: 'utf8', legalComments: 'none', outfile: `${out}/review.js`, logLevel: 'warning',
});
const licences = await Promise.all(
  Object.entries(dependencies).sort().map(async ([name, version]) => {
    const licence = await readFile(`node_modules/${name}/LICENSE`, 'utf-8');
    return `${name} ${version}\n\n${licence.trim()}\n`;
  }),
);
await writeFile(`${out}/review.js.licences`, licences.join('\n\n'));
