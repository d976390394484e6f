export type DiffLine = { kind: 'added' | 'removed' | 'same' | 'place' | 'note'; text: string }

/** One file of a unified diff. */
export type DiffPart = { lines: DiffLine[]; isBinary: boolean }

/** Splits a git diff by file. Two parts of one file (a file that became a link) are merged. */
export function diffParts(diff: string): DiffPart[] {
  const parts: DiffPart[] = []
  let heading: string | null = null
  let isInside = false
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const text of lines) {
    if (text.startsWith('diff --git ')) {
      if (text !== heading) parts.push({ lines: [], isBinary: false })
      heading = text
      isInside = false
      continue
    }
    const part = parts.at(-1)
    if (!part) continue
    if (text.startsWith('@@')) isInside = true
    if (isInside) part.lines.push({ kind: kindOf(text), text })
    else if (text.startsWith('Binary files ')) part.isBinary = true
  }
  return parts
}

function kindOf(text: string): DiffLine['kind'] {
  switch (text.charAt(0)) {
    case '+':
      return 'added'
    case '-':
      return 'removed'
    case '@':
      return 'place'
    case '\\':
      return 'note'
    default:
      return 'same'
  }
}
