export type DiagramSource = {
  text: string
  /** Arrows between nodes of a flowchart, each an edge at least; null: of another diagram. */
  arrows: number | null
}

/**
 * Mermaid as the drawing library reads it, which takes for a name whatever has no space around it: a statement a
 * line, and spaces around what joins two things. In quotes and brackets everything is text.
 */
export function readDiagram(source: string): DiagramSource {
  if (/^\s*(graph|flowchart)\b/.test(source)) return readFlowchart(source)
  if (/^\s*erDiagram\b/.test(source)) return { text: spaced(source, entityLink), arrows: null }
  if (/^\s*classDiagram\b/.test(source)) return { text: spaced(source, classLink), arrows: null }
  return { text: source, arrows: null }
}

const entityLink = /(?<=[\w"])\s*([|}][|o](?:--|\.\.)[|o][|{])\s*(?=[\w"])/g
// `o` is a mark where a space stands before it, and else the end of a name.
const classLink = /(?<=[\w"`])\s*((?:<\||\*|<|(?<=\s)o)?(?:--|\.\.)(?:\|>|\*|>|o(?=\s))?)\s*(?=[\w"`])/g

function spaced(source: string, link: RegExp): string {
  return source.replaceAll(link, ' $1 ')
}

/** Of any length; a cross or a circle at its end is counted, and is none of the arrows that are drawn. */
const arrow = /(<)?(?:(-{2,}|-\.+-|={2,})>|(-{3,}|-\.+-|={3,})(?![>ox]))|--[ox](?=[\s|])/y
/** The beginning of an arrow with words in it. */
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

/** How long an arrow is says how far apart its ends are to be; here all are of one length. */
function plainArrow([whole, tail = '', headed, plain]: RegExpExecArray): string {
  const line = headed ?? plain
  if (line === undefined) return whole
  const kind = line.includes('.') ? '-.-' : line.startsWith('=') ? '==' : '--'
  if (headed !== undefined) return `${tail}${kind}>`
  return kind === '-.-' ? kind : `${kind}${kind.charAt(0)}`
}
