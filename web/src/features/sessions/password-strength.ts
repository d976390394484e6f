export type Strength = { level: 0 | 1 | 2 | 3; words: string }

/**
 * Estimates the strength of a password from its length and variety. Only a hint: the rule is the minimum
 * length.
 */
export function strengthOf(password: string, least: number): Strength {
  if (password.length < least) {
    const missing = least - password.length
    return { level: 0, words: `${missing} more character${missing === 1 ? '' : 's'} needed` }
  }
  const variety = new Set(password.toLowerCase()).size
  const bits = password.length * Math.log2(Math.max(2, variety))
  if (variety < 6 || bits < 38) return { level: 1, words: 'Easy to guess' }
  if (bits < 64) return { level: 2, words: 'Good' }
  return { level: 3, words: 'Strong' }
}
