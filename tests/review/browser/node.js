// Runs the built page in node: `node node.js BUILT FUNCTION FILE.js…`. Each line of standard input is one argument as JSON, each line out its result.
const { readFileSync } = require('node:fs');
const { createInterface } = require('node:readline');
const { runInThisContext } = require('node:vm');

const [built, name, ...files] = process.argv.slice(2);
for (const file of [built, ...files]) runInThisContext(readFileSync(file, 'utf-8'), { filename: file });

(async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await globalThis[name](JSON.parse(line)))}\n`);
  }
})();
