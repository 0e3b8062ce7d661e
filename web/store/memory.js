// Where the browser keeps nothing: everything is lost when the window closes, unless the person saves a file.

const nothing = async () => {};

/** @param {import('../core/bytes.js').Random} random */
export const memoryStore = (random) => ({ random, append: nothing, rewrite: nothing, erase: nothing });
