/** At most two letters: of the first two words (`night-watch` → NW), else of the one word. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter((word) => word !== '')
  const [first = '', second = ''] = words
  const letters = second === '' ? [...first].slice(0, 2) : [[...first][0], [...second][0]]
  return letters.join('').toUpperCase()
}

/** A number below `count` that is always the same for a name and spread over names. */
export function toneOf(name: string, count: number): number {
  let sum = 7
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521
  return sum % count
}
