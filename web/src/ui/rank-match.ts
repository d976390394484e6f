/**
 * Scores a match from 0 (none) to 1. Each typed word must occur; the very start counts most, then the start
 * of a word. Fuzzy matching would offer Bermuda for "berl".
 */
export function rankMatch(value: string, typed: string, keywords: readonly string[] = []): number {
  const texts = (keywords.length > 0 ? keywords : [value]).map((text) => text.toLowerCase())
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  let total = 0
  for (const word of words) {
    const best = Math.max(0, ...texts.map((text) => rankWord(text, word)))
    if (best === 0) return 0
    total += best
  }
  return words.length === 0 ? 1 : total / words.length
}

function rankWord(text: string, word: string): number {
  const at = text.indexOf(word)
  if (at === -1) return 0
  if (at === 0) return text.length === word.length ? 1 : 0.9
  return /[\s/_.:-]/.test(text.charAt(at - 1)) ? 0.7 : 0.4
}
