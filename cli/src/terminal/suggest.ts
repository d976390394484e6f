import leven from 'leven'

/** Returns the candidate that was probably meant, or null. */
export function closest(word: string, candidates: readonly string[]): string | null {
  const text = word.toLowerCase()
  // One typing mistake in a short word, up to three in a long one.
  const maxDistance = Math.min(3, Math.max(1, Math.floor(text.length / 3)))
  const ranked = candidates
    .map((name) => ({ name, distance: distanceOf(text, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((one, other) => one.distance - other.distance)
  return ranked[0]?.name ?? null
}

/** Returns ` Did you mean …?` with a leading space, or an empty text. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const name = closest(word, candidates)
  return name === null ? '' : ` Did you mean ${name}?`
}

/** Counts two exchanged neighbours as one mistake, because they are the most frequent one. */
function distanceOf(text: string, name: string): number {
  for (let at = 0; at + 1 < text.length; at += 1) {
    const exchanged = text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2)
    if (exchanged === name) return 1
  }
  return leven(text, name)
}
