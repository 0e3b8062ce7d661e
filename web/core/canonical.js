// Canonical JSON (RFC 8785): JavaScript's numbers, escapes and order of keys are its definition. Binding: harness/core/canonical.py.

/** @param {unknown} value @returns {string} */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = /** @type {Record<string, unknown>} */ (value);
    const written = Object.keys(members).sort().map((key) => `${canonical(key)}:${canonical(members[key])}`);
    return `{${written.join(',')}}`;
  }
  if (typeof value === 'string' && !value.isWellFormed()) throw new TypeError('text with half a surrogate pair');
  if (typeof value === 'number' && !(Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))))
    throw new TypeError('a number that canonical JSON cannot hold');
  if (value === undefined || typeof value === 'function') throw new TypeError('no JSON value');
  return JSON.stringify(value);
}
