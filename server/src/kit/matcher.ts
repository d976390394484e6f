/**
 * Finds many patterns in one pass. The time depends on the length of the text only, not on the number or content of the
 * patterns: texts and patterns that repeat themselves make other searches quadratic, and agents choose both.
 */
export type Matcher = {
  /** For each position, the length of the longest pattern that starts there, or 0. */
  lengths(text: string): Int32Array
  /** Length of the longest end of the text that a longer text may continue to a pattern. */
  openEnd(text: string): number
  /** Length of the longest beginning of the text that is the end of a pattern. */
  openStart(text: string): number
}

/** Many texts with the same patterns follow each other. The latest matchers are kept, up to this many characters. */
const maxKept = 1024 * 1024
const kept = new Map<string, Matcher>()
let keptLength = 0

/** The matcher of a list, whose patterns are derived from it in the way that `use` names. */
export function matcherOf(
  use: string,
  list: readonly string[],
  patternsOf: (list: readonly string[]) => readonly string[],
): Matcher {
  const key = [use, ...list].join('\0')
  const known = kept.get(key)
  if (known) {
    kept.delete(key)
    kept.set(key, known)
    return known
  }
  const matcher = createMatcher(patternsOf(list))
  kept.set(key, matcher)
  keptLength += key.length
  for (const [oldest] of kept) {
    if (keptLength <= maxKept) break
    kept.delete(oldest)
    keptLength -= oldest.length
  }
  return matcher
}

export function createMatcher(patterns: readonly string[]): Matcher {
  let built: Automaton | null = null
  // Only streams need it.
  const forward = () => {
    built ??= createAutomaton(patterns, (pattern, at) => pattern.charCodeAt(at))
    return built
  }
  // Read backwards, a pattern ends where it starts.
  const backward = createAutomaton(patterns, (pattern, at) => pattern.charCodeAt(pattern.length - 1 - at))
  return {
    lengths(text) {
      const lengths = new Int32Array(text.length)
      let state = 0
      for (let at = text.length - 1; at >= 0; at -= 1) {
        state = backward.next(state, text.charCodeAt(at))
        lengths[at] = backward.matched(state)
      }
      return lengths
    },
    openEnd(text) {
      const { next, open } = forward()
      let state = 0
      for (let at = 0; at < text.length; at += 1) state = next(state, text.charCodeAt(at))
      return open(state)
    },
    openStart(text) {
      let state = 0
      for (let at = text.length - 1; at >= 0; at -= 1) state = backward.next(state, text.charCodeAt(at))
      return backward.depth(state)
    },
  }
}

type Automaton = ReturnType<typeof createAutomaton>

/**
 * The automaton of Aho and Corasick (1975). A state is the longest end of the text read so far that begins a pattern;
 * 0 is none. Typed arrays, because a list of secrets may have 100,000 characters.
 */
function createAutomaton(patterns: readonly string[], charAt: (pattern: string, at: number) => number) {
  const size = 1 + patterns.reduce((sum, { length }) => sum + length, 0)
  const parents = new Int32Array(size)
  const chars = new Uint16Array(size)
  const depths = new Int32Array(size)
  /** The longest shorter end that begins a pattern, too. */
  const fallbacks = new Int32Array(size)
  /** Length of the longest pattern that ends here. */
  const matches = new Int32Array(size)
  const isContinued = new Uint8Array(size)
  const children = new Int32Array(2 ** Math.ceil(Math.log2(2 * size)))
  let count = 1

  /** Returns the place of the child in `children`, or the free place for it. */
  function placeOf(state: number, char: number): number {
    let place = (Math.imul(state, 0x9e3779b1) ^ Math.imul(char, 0x85ebca6b)) >>> 0
    for (place &= children.length - 1; ; place = (place + 1) & (children.length - 1)) {
      const child = children[place] ?? 0
      if (child === 0 || (parents[child] === state && chars[child] === char)) return place
    }
  }

  function next(from: number, char: number): number {
    for (let state = from; ; state = fallbacks[state] ?? 0) {
      const child = children[placeOf(state, char)] ?? 0
      if (child !== 0 || state === 0) return child
    }
  }

  function extend(state: number, char: number): number {
    const place = placeOf(state, char)
    const known = children[place] ?? 0
    if (known !== 0) return known
    const child = count
    count += 1
    // Fallbacks are shorter, so all of them exist: patterns are added character by character.
    fallbacks[child] = state === 0 ? 0 : next(fallbacks[state] ?? 0, char)
    matches[child] = matches[fallbacks[child] ?? 0] ?? 0
    parents[child] = state
    chars[child] = char
    depths[child] = (depths[state] ?? 0) + 1
    isContinued[state] = 1
    children[place] = child
    return child
  }

  let growing = patterns.map((pattern) => ({ pattern, state: 0 }))
  for (let at = 0; growing.length > 0; at += 1) {
    for (const each of growing) {
      each.state = extend(each.state, charAt(each.pattern, at))
      if (each.pattern.length === at + 1) matches[each.state] = at + 1
    }
    growing = growing.filter(({ pattern }) => pattern.length > at + 1)
  }

  return {
    next,
    matched: (state: number) => matches[state] ?? 0,
    depth: (state: number) => depths[state] ?? 0,
    /** Length of the longest end that begins a longer pattern. */
    open(end: number) {
      let state = end
      while (state !== 0 && isContinued[state] === 0) state = fallbacks[state] ?? 0
      return depths[state] ?? 0
    },
  }
}
