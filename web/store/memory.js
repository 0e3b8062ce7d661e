// Where the browser keeps nothing: everything is lost when the window closes, unless the person saves a file.

/** @param {import('../core/bytes.js').Random} random */
export const memoryStore = (random) => ({
  random,
  append: () => Promise.resolve(),
  rewrite: () => Promise.resolve(),
  erase: () => Promise.resolve(),
});
