/** Random cron expressions, the same ones for the same seed. */

type Field = { from: number; to: number; names?: readonly string[] }
const fields: readonly Field[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  {
    from: 1,
    to: 12,
    names: ['', 'JAN', 'feb', 'MAR', 'apr', 'MAY', 'jun', 'JUL', 'aug', 'SEP', 'oct', 'NOV', 'dec'],
  },
  { from: 0, to: 7, names: ['SUN', 'mon', 'TUE', 'wed', 'THU', 'fri', 'SAT'] },
]

export type RandomCron = {
  expression: string
  /** The same expression for a library that refuses `5/15`: with the end of the range written out. */
  spelledOut: string
}

export function randomCrons(count: number, random: () => number): RandomCron[] {
  return Array.from({ length: count }, () => {
    const chosen = fields.map((field) => randomField(field, random))
    return {
      expression: chosen.map(({ text }) => text).join(' '),
      spelledOut: chosen.map(({ spelledOut }) => spelledOut).join(' '),
    }
  })
}

/** Mulberry32: a small generator of numbers from 0 up to 1. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Written = { text: string; spelledOut: string }

function randomField(field: Field, random: () => number): Written {
  if (random() < 0.4) return { text: '*', spelledOut: '*' }
  const items = Array.from({ length: random() < 0.7 ? 1 : 2 + whole(2, random) }, () =>
    randomItem(field, random),
  )
  return {
    text: items.map(({ text }) => text).join(),
    spelledOut: items.map(({ spelledOut }) => spelledOut).join(),
  }
}

function randomItem(field: Field, random: () => number): Written {
  const span = field.to - field.from
  const value = () => field.from + whole(span + 1, random)
  const [one, other] = [value(), value()]
  const [low, high] = [Math.min(one, other), Math.max(one, other)]
  const step = 1 + whole(Math.ceil(span / 2), random)
  const shape = random()
  if (shape < 0.35) return same(titleOf(low, field, random))
  if (shape < 0.6) return same(`*/${step}`)
  // croner reads SUN at the end of a range as 7.
  const highTitle = high === 0 ? '0' : titleOf(high, field, random)
  if (shape < 0.75) return same(`${titleOf(low, field, random)}-${highTitle}`)
  if (shape < 0.9) return same(`${low}-${high}/${step}`)
  return { text: `${low}/${step}`, spelledOut: `${low}-${field.to}/${step}` }
}

function same(text: string): Written {
  return { text, spelledOut: text }
}

function titleOf(value: number, { names }: Field, random: () => number): string {
  return (random() < 0.3 && names?.[value]) || String(value)
}

function whole(end: number, random: () => number): number {
  return Math.floor(random() * end)
}
