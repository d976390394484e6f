/** What the palette finds a command by. */
export type Searchable = {
  title: string
  /** Other names of the whole: all of their words must be typed, the last one may be unfinished. */
  also?: readonly string[]
  /** Words that find it as well, but count less than its title. */
  keywords?: readonly string[]
  /** Added to the score, at most 0.1: a slight preference among equal matches. */
  bias?: number
}

export type Indexed<Item> = { item: Item; title: Phrase; also: Phrase[]; keywords: string[]; bias: number }
type Phrase = { words: readonly string[]; joined: string }

/** Words of one meaning. The first of a group has no special role. */
const synonymGroups = [
  ['new', 'create', 'add', 'make'],
  ['stop', 'halt', 'kill', 'shutdown', 'terminate'],
  ['start', 'boot', 'launch', 'wake'],
  ['delete', 'remove', 'destroy', 'erase'],
  ['runs', 'executions'],
  ['schedule', 'cron', 'timetable'],
  ['settings', 'preferences', 'options', 'configuration'],
  ['chat', 'talk', 'conversation'],
  ['files', 'documents'],
  ['logs', 'output'],
  ['credentials', 'secrets', 'variables'],
  ['users', 'people', 'members'],
  ['log', 'trail'],
  ['pause', 'suspend', 'disable'],
  ['resume', 'continue', 'unpause'],
  ['help', 'manual'],
  ['guides', 'docs', 'documentation', 'manual'],
  ['theme', 'mode', 'appearance'],
  ['notifications', 'news'],
  ['sharing', 'share', 'shares'],
  ['terminal', 'shell', 'console'],
  ['health', 'monitoring'],
  ['network', 'egress', 'internet'],
  ['backups', 'archive'],
]
const synonymsOf = new Map<string, string[]>()
for (const group of synonymGroups)
  for (const word of group) {
    const others = group.filter((other) => other !== word).map(stem)
    synonymsOf.set(stem(word), [...(synonymsOf.get(stem(word)) ?? []), ...others])
  }

/** Words without a meaning of their own in a command. */
const fillers = new Set([
  'a',
  'an',
  'the',
  'to',
  'of',
  'for',
  'with',
  'on',
  'in',
  'my',
  'please',
  'go',
  'open',
  'show',
])

const typoLength = 4
const infixLength = 3
const keywordWeight = 0.62
const synonymWeight = 0.92

export function indexOf<Item extends Searchable>(items: readonly Item[]): Indexed<Item>[] {
  // Agents share most of their words.
  const phrase = remembered(phraseOf)
  const words = remembered(wordsOf)
  return items.map((item) => ({
    item,
    title: phrase(item.title),
    also: (item.also ?? []).map(phrase),
    keywords: (item.keywords ?? []).flatMap(words),
    bias: Math.min(item.bias ?? 0, 0.1),
  }))
}

/**
 * The items that match, best first; equal ones keep their order. Every word must match. Only when nothing does,
 * words may have one typing error, and then words may be missing.
 */
export function rank<Item>(index: readonly Indexed<Item>[], text: string): Item[] {
  const { words, joined } = phraseOf(text)
  if (words.length === 0) return index.map(({ item }) => item)
  for (const how of [strict, lenient, partial]) {
    const typed: Typed = { joined, matches: words.map((word) => remembered(matcherOf(word, how))), how }
    const hits = index
      .map((entry) => ({ item: entry.item, score: scoreOf(entry, typed) }))
      .filter(({ score }) => score > 0)
    if (hits.length > 0) return hits.sort((one, other) => other.score - one.score).map(({ item }) => item)
  }
  return []
}

type How = { typos: boolean; mayMiss: boolean }
const strict: How = { typos: false, mayMiss: false }
const lenient: How = { typos: true, mayMiss: false }
const partial: How = { typos: true, mayMiss: true }

/** `matches` has a function for each typed word: how well it matches a word, from 0 (not at all) to 1. */
type Typed = { joined: string; matches: readonly ((target: string) => number)[]; how: How }

function scoreOf<Item>(entry: Indexed<Item>, typed: Typed): number {
  let best = entry.title.joined === typed.joined ? 1 : phraseScore(entry.title, entry.keywords, typed)
  for (const phrase of entry.also) {
    if (phrase.joined === typed.joined) best = Math.max(best, 0.99)
    else if (holdsAll(phrase, typed)) best = Math.max(best, 0.97 * phraseScore(phrase, entry.keywords, typed))
  }
  return best === 0 ? 0 : best + entry.bias
}

/** The mean match of the typed words, and how much of the phrase they cover. */
function phraseScore(phrase: Phrase, keywords: readonly string[], { matches, how }: Typed): number {
  const covered = new Set<number>()
  let total = 0
  let missed = 0
  for (const match of matches) {
    let value = 0
    let at = -1
    for (const [position, target] of phrase.words.entries()) {
      const found = match(target)
      // A word that is typed twice covers two equal words.
      if (found > value || (found === value && found > 0 && covered.has(at) && !covered.has(position))) {
        value = found
        at = position
      }
    }
    for (const keyword of keywords) {
      const found = keywordWeight * match(keyword)
      if (found > value) {
        value = found
        at = -1
      }
    }
    if (value === 0) {
      missed += 1
      // Nearly all commands end here.
      if (!how.mayMiss) return 0
    }
    if (at !== -1) covered.add(at)
    total += value
  }
  if (missed * 2 > matches.length || (missed > 0 && covered.size === 0)) return 0
  return 0.75 * (total / matches.length) + 0.25 * (covered.size / phrase.words.length)
}

/** True if the typed words contain the whole phrase. */
function holdsAll({ words }: Phrase, { matches }: Typed): boolean {
  return words.every((target) => matches.some((match) => match(target) > 0))
}

function matcherOf(word: string, how: How): (target: string) => number {
  return (target) =>
    Math.max(
      matchWord(target, word, how),
      ...(synonymsOf.get(stem(target)) ?? []).map((synonym) => synonymWeight * matchWhole(synonym, word)),
    )
}

function matchWord(target: string, word: string, how: How): number {
  const whole = matchWhole(target, word)
  if (whole > 0) return whole
  if (target.startsWith(word)) return 0.8 + (0.1 * word.length) / target.length
  if (word.length >= infixLength && target.includes(word)) return 0.4
  if (!how.typos || word.length < typoLength) return 0
  if (isOneEditApart(target, word)) return 0.55
  return target.length > word.length && isOneEditApart(target.slice(0, word.length), word) ? 0.45 : 0
}

function matchWhole(target: string, word: string): number {
  if (target === word) return 1
  return stem(target) === stem(word) ? 0.98 : 0
}

/** One letter inserted, removed or replaced, or two neighbours swapped. */
export function isOneEditApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (long.length - short.length > 1) return false
  let at = 0
  while (at < short.length && short[at] === long[at]) at += 1
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1)
  if (at === short.length) return false
  if (short.slice(at + 1) === long.slice(at + 1)) return true
  return (
    short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2)
  )
}

function phraseOf(text: string): Phrase {
  const all = wordsOf(text)
  const meaningful = all.filter((word) => !fillers.has(word))
  const words = meaningful.length > 0 ? meaningful : all
  return { words, joined: words.join('') }
}

/** Lower case, without accents. Names are split at their hyphens. */
function wordsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^\p{Letter}\p{Number}]+/u)
    .filter(Boolean)
}

/** Makes one word of singular and plural. */
function stem(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function remembered<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const value = compute(text)
    known.set(text, value)
    return value
  }
}
