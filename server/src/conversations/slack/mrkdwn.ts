import type { List, PhrasingContent, RootContent, Table } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

type Node = RootContent | PhrasingContent

/**
 * Markdown in Slack's own markup. All text is escaped, that of code as well: an answer cannot call people
 * (`<!channel>`, `<@U…>`), whatever an agent was talked into writing.
 */
export function toMrkdwn(markdown: string): string {
  const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
  return blocks(tree.children).trim()
}

/** `&`, `<` and `>` are the only characters that Slack reads in text. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function blocks(nodes: readonly Node[], separator = '\n\n'): string {
  return nodes
    .map(one)
    .filter((text) => text !== '')
    .join(separator)
}

function inline(nodes: readonly Node[]): string {
  return nodes.map(one).join('')
}

function one(node: Node): string {
  switch (node.type) {
    case 'text':
    case 'html':
      return escaped(node.value)
    case 'paragraph':
      return inline(node.children)
    case 'heading':
      return marked('*', inline(node.children).replaceAll('*', ''))
    case 'strong':
      return marked('*', inline(node.children))
    case 'emphasis':
      return marked('_', inline(node.children))
    case 'delete':
      return marked('~', inline(node.children))
    case 'inlineCode':
      return `\`${escaped(node.value)}\``
    case 'code':
      return codeBlock(node.value)
    case 'blockquote':
      return blocks(node.children).replaceAll(/^/gm, '> ')
    case 'list':
      return list(node)
    case 'table':
      return codeBlock(table(node))
    case 'link':
      return link(node.url, inline(node.children))
    case 'image':
      return link(node.url, escaped(node.alt || 'image'))
    case 'break':
      return '\n'
    case 'thematicBreak':
      return '──────────'
    case 'footnoteReference':
      return `[${escaped(node.label ?? node.identifier)}]`
    case 'footnoteDefinition':
      return `[${escaped(node.label ?? node.identifier)}] ${blocks(node.children)}`
    case 'linkReference':
      return inline(node.children)
    default:
      // Definitions and the like show nothing.
      return ''
  }
}

function marked(mark: string, text: string): string {
  const trimmed = text.trim()
  // Slack's marks do not reach over a line.
  return trimmed === '' ? '' : trimmed.replaceAll(/^.+$/gm, `${mark}$&${mark}`)
}

/** Three backticks would end the block: a character that shows nothing keeps them apart. */
function codeBlock(value: string): string {
  return `\`\`\`\n${escaped(value).replaceAll('```', '`\u200b`\u200b`')}\n\`\`\``
}

function list({ ordered, start, children }: List): string {
  const first = start ?? 1
  return children
    .map((item, index) => {
      const sign = item.checked == null ? (ordered ? `${first + index}.` : '•') : item.checked ? '☑' : '☐'
      return `${sign} ${blocks(item.children, '\n').replaceAll('\n', '\n    ')}`
    })
    .join('\n')
}

/** Columns of equal width; Slack knows no tables. */
function table({ children }: Table): string {
  const rows = children.map((row) => row.children.map((cell) => plain(cell.children)))
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.min(60, Math.max(...rows.map((row) => row[column]?.length ?? 0))),
  )
  const lines = rows.map((row) =>
    widths
      .map((width, column) => (row[column] ?? '').padEnd(width))
      .join(' | ')
      .trimEnd(),
  )
  return [lines[0], widths.map((width) => '-'.repeat(width)).join('-|-'), ...lines.slice(1)].join('\n')
}

function plain(nodes: readonly Node[]): string {
  return nodes
    .map((node) => ('value' in node ? node.value : 'children' in node ? plain(node.children) : ''))
    .join('')
}

/** Only what a browser may follow becomes a link; anything else is told as text. */
function link(url: string, label: string): string {
  if (!/^(https?:|mailto:)/i.test(url) || !URL.canParse(url)) return label
  const address = escaped(url).replaceAll('|', '%7C')
  const words = label.replaceAll('|', '¦').replaceAll('\n', ' ').trim()
  return words === '' || words === address ? `<${address}>` : `<${address}|${words}>`
}
