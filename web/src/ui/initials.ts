/** At most two letters: from the first two words (`night-watch` → NW), else from the only word. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter((word) => word !== '')
  const [first = '', second = ''] = words
  const letters = second === '' ? [...first].slice(0, 2) : [[...first][0], [...second][0]]
  return letters.join('').toUpperCase()
}

/** A stable hash of the name below `count`. */
export function toneOf(name: string, count: number): number {
  let sum = 7
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521
  return sum % count
}
