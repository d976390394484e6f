import { z } from 'zod'

/** What a comparison is about; its bounds are integers of the smallest unit: micro-dollars, tokens, milliseconds. */
export const measures = ['cost', 'tokens', 'duration'] as const
export type Measure = (typeof measures)[number]

type Rules = {
  /** Factors of the units that may follow a number; '' is that of a number without one. */
  units: Record<string, number>
  pattern: RegExp
  example: string
}

const number = String.raw`\d{1,9}(\.\d{1,6})?`

function rulesOf(units: Record<string, number>, example: string): Rules {
  const unit = `(${Object.keys(units).filter(Boolean).join('|')})?`
  const value = Object.keys(units).length === 1 ? number : number + unit
  return { units, pattern: new RegExp(`^((>=|<=|>|<)?${value}|${value}\\.\\.${value})$`), example }
}

const rules: Record<Measure, Rules> = {
  cost: rulesOf({ '': 1_000_000 }, '>0.5'),
  tokens: rulesOf({ '': 1, k: 1000, M: 1_000_000 }, '>50k'),
  duration: rulesOf({ '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }, '>5m'),
}

/** Inclusive. */
export type Bounds = { least: number | null; most: number | null }

/** The rule of a comparison in words, for errors. */
export function comparisonRule(measure: Measure): string {
  const { example } = rules[measure]
  const [, value = ''] = example.split('>')
  return `must be a number with >, >=, < or <=, or a range, such as ${example} or 0..${value}`
}

/** Null for text that is not a comparison. */
export function boundsOf(measure: Measure, text: string): Bounds | null {
  const { units, pattern } = rules[measure]
  if (!pattern.test(text)) return null
  const amount = (value: string) => {
    const [, digits = '', unit = ''] = /^([\d.]+)(\D*)$/.exec(value) ?? []
    return Math.round(Number(digits) * (units[unit] ?? 1))
  }
  const [low, high] = text.split('..')
  if (low !== undefined && high !== undefined) return { least: amount(low), most: amount(high) }
  const [, sign = '', value = ''] = /^([<>]=?)?(.*)$/.exec(text) ?? []
  const exact = amount(value)
  switch (sign) {
    case '>':
      return { least: exact + 1, most: null }
    case '>=':
      return { least: exact, most: null }
    case '<':
      return { least: null, most: exact - 1 }
    case '<=':
      return { least: null, most: exact }
    default:
      return { least: exact, most: exact }
  }
}

/** A comparison in a query string. It stays text, so that the documentation shows its pattern. */
export function Comparison(measure: Measure) {
  return z.string().max(40).regex(rules[measure].pattern, comparisonRule(measure))
}
