export type DiagramSource = {
  text: string
  /** `arrows`: the minimum number of edges of a flowchart; null for other diagrams. */
  arrows: number | null
}

/**
 * Rewrites Mermaid for the drawing library, which reads text without spaces as one name: one statement per
 * line, and spaces around relations. Quoted and bracketed content stays unchanged.
 */
export function readDiagram(source: string): DiagramSource {
  if (/^\s*(graph|flowchart)\b/.test(source)) return readFlowchart(source)
  if (/^\s*erDiagram\b/.test(source)) return { text: spaced(source, entityLink), arrows: null }
  if (/^\s*classDiagram\b/.test(source)) return { text: spaced(source, classLink), arrows: null }
  return { text: source, arrows: null }
}

const entityLink = /(?<=[\w"])\s*([|}][|o](?:--|\.\.)[|o][|{])\s*(?=[\w"])/g
// `o` is an arrow head after a space, else the end of a name.
const classLink = /(?<=[\w"`])\s*((?:<\||\*|<|(?<=\s)o)?(?:--|\.\.)(?:\|>|\*|>|o(?=\s))?)\s*(?=[\w"`])/g

function spaced(source: string, link: RegExp): string {
  return source.replaceAll(link, ' $1 ')
}

/** An arrow of any length. Heads with a cross or circle are matched, but the library does not draw them. */
const arrow = /(<)?(?:(-{2,}|-\.+-|={2,})>|(-{3,}|-\.+-|={3,})(?![>ox]))|--[ox](?=[\s|])/y
/** The beginning of an arrow with a label. */
const opening = /(--|-\.|==)(?=[^\s\-.=>|ox])/y

function readFlowchart(source: string): DiagramSource {
  let text = ''
  let arrows = 0
  let depth = 0
  let isQuoted = false
  const matchAt = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  for (let at = 0; at < source.length; ) {
    const char = source.charAt(at)
    const isText = isQuoted || depth > 0
    const found = isText ? null : matchAt(arrow, at)
    if (found) {
      const label = matchAt(/\s*\|[^|]*\|/y, at + found[0].length)?.[0] ?? ''
      text += ` ${plainArrow(found)}${label.trim()} `
      arrows += 1
      at += found[0].length + label.length
      continue
    }
    const begun = isText ? null : matchAt(opening, at)
    if (begun) {
      text += ` ${begun[0]} `
      at += begun[0].length
      continue
    }
    if (char === '"') isQuoted = !isQuoted
    else if (!isQuoted && '[({'.includes(char)) depth += 1
    else if (!isQuoted && '])}'.includes(char)) depth = Math.max(0, depth - 1)
    text += char === ';' && !isText ? '\n' : char
    at += 1
  }
  return { text, arrows }
}

/** The length of an arrow sets the distance of its nodes; here all have one length. */
function plainArrow([whole, tail = '', headed, plain]: RegExpExecArray): string {
  const line = headed ?? plain
  if (line === undefined) return whole
  const kind = line.includes('.') ? '-.-' : line.startsWith('=') ? '==' : '--'
  if (headed !== undefined) return `${tail}${kind}>`
  return kind === '-.-' ? kind : `${kind}${kind.charAt(0)}`
}
