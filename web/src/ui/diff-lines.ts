export type DiffLine = {
  kind: 'added' | 'removed' | 'same' | 'place' | 'note'
  text: string
  /** Line numbers in the old and the new file; null where the file has no such line. */
  old: number | null
  now: number | null
}

/** One file of a unified diff. */
export type DiffPart = { lines: DiffLine[]; isBinary: boolean }

/** Splits a git diff by file. Two parts of one file (a file that became a link) are merged. */
export function diffParts(diff: string): DiffPart[] {
  const parts: DiffPart[] = []
  let heading: string | null = null
  let isInside = false
  let numbered = createCounter()
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const text of lines) {
    if (text.startsWith('diff --git ')) {
      if (text !== heading) parts.push({ lines: [], isBinary: false })
      heading = text
      isInside = false
      numbered = createCounter()
      continue
    }
    const part = parts.at(-1)
    if (!part) continue
    if (text.startsWith('@@')) isInside = true
    if (isInside) part.lines.push(numbered(text))
    else if (text.startsWith('Binary files ')) part.isBinary = true
  }
  return parts
}

/** The lines of any diff, such as one in a code fence. Without a position they are numbered from 1. */
export function diffLines(diff: string): DiffLine[] {
  const numbered = createCounter()
  const texts = diff.replace(/\n$/, '').split('\n')
  let isHeading = false
  return texts.map((text, index) => {
    if (text.startsWith('@@')) isHeading = false
    // `--- old`, `+++ new` and a position name a file; in other places they are a removed and an added line.
    else if (text.startsWith('diff ') || isFileName(texts, index)) isHeading = true
    return isHeading ? { kind: 'note', text, old: null, now: null } : numbered(text)
  })
}

function isFileName(texts: readonly string[], index: number): boolean {
  const starts = (offset: number, sign: string) => texts[index + offset]?.startsWith(sign) === true
  return starts(0, '--- ') && starts(1, '+++ ') && starts(2, '@@')
}

/** Numbers lines in sequence; a position (`@@ -5,2 +5,3 @@`) restarts both counts. */
function createCounter(): (text: string) => DiffLine {
  let [old, now] = [1, 1]
  return (text) => {
    const kind = kindOf(text)
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text)
    if (place) [old, now] = [Number(place[1]), Number(place[2])]
    const isOld = kind === 'same' || kind === 'removed'
    const isNow = kind === 'same' || kind === 'added'
    return { kind, text, old: isOld ? old++ : null, now: isNow ? now++ : null }
  }
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
