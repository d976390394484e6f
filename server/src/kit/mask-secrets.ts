import { type Matcher, matcherOf } from './matcher.ts'

/** Replaces every known secret by `[secret]`, including its JSON-escaped forms. */
export function maskText(text: string, secrets: readonly string[]): string {
  return masked(text, tokensIn(text, textMatcher(secrets)))
}

/** Masks JSON text without changing its structure: secrets in strings have their escaped form. */
export function maskJson(text: string, secrets: readonly string[]): string {
  return masked(text, tokensIn(text, jsonMatcher(secrets)))
}

/**
 * Masks one piece of a stream. `held` is the end of the text that may be part of a longer secret; the caller
 * prepends it to the next piece.
 */
export function maskPiece(text: string, secrets: readonly string[]): { masked: string; held: string } {
  const matcher = textMatcher(secrets)
  const tokens = tokensIn(text, matcher)
  const open = text.length - matcher.openEnd(text)
  // Complete secrets are not split either.
  const end = Math.min(open, tokens.find((token) => token.end > open)?.start ?? open)
  const settled = tokens.filter((token) => token.end <= end)
  return { masked: masked(text.slice(0, end), settled), held: text.slice(end) }
}

/** Masks the end of a longer text. What may be the end of a secret at its beginning is removed. */
export function maskEnd(text: string, secrets: readonly string[]): string {
  const matcher = textMatcher(secrets)
  const lengths = matcher.lengths(text)
  let start = matcher.openStart(text)
  // A complete secret there is removed as a whole.
  for (let at = 0; at < start; at += 1) start = Math.max(start, at + (lengths[at] ?? 0))
  return maskText(text.slice(start), secrets)
}

type Token = { start: number; end: number }

/** The secrets in a text from left to right; of those that start at one position, the longest. */
function tokensIn(text: string, matcher: Matcher): Token[] {
  const lengths = matcher.lengths(text)
  const tokens: Token[] = []
  for (let at = 0; at < text.length; ) {
    const length = lengths[at] ?? 0
    if (length > 0) tokens.push({ start: at, end: at + length })
    at += Math.max(1, length)
  }
  return tokens
}

function masked(text: string, tokens: readonly Token[]): string {
  if (tokens.length === 0) return text
  const parts: string[] = []
  let from = 0
  for (const { start, end } of tokens) {
    parts.push(text.slice(from, start))
    from = end
  }
  return [...parts, text.slice(from)].join('[secret]')
}

const textMatcher = (secrets: readonly string[]) =>
  matcherOf('text', secrets, (list) => formsOf(list, (secret) => [secret, ...jsonForms(secret)]))

const jsonMatcher = (secrets: readonly string[]) =>
  matcherOf('json', secrets, (list) => formsOf(list, jsonForms))

/** Shorter secrets would mask ordinary words. */
const minLength = 8

function formsOf(secrets: readonly string[], forms: (secret: string) => string[]): string[] {
  return [...new Set(secrets.filter(({ length }) => length >= minLength).flatMap(forms))]
}

function jsonForms(secret: string): string[] {
  return [escaped(secret), escaped(escaped(secret))]
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
