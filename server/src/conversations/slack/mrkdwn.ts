import type { List, PhrasingContent, RootContent, Table } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { escapeText } from './rules.ts'

type Node = RootContent | PhrasingContent

/**
 * Converts Markdown to Slack's markup. All text is escaped, including code: an answer cannot mention people
 * (`<!channel>`, `<@U…>`), whatever the agent wrote.
 */
export function toMrkdwn(markdown: string): string {
  const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
  return blocks(tree.children).trim()
}

function blocks(nodes: readonly Node[], separator = '\n\n'): string {
  return nodes
    .map(renderNode)
    .filter((text) => text !== '')
    .join(separator)
}

function inline(nodes: readonly Node[]): string {
  return nodes.map(renderNode).join('')
}

function renderNode(node: Node): string {
  switch (node.type) {
    case 'text':
    case 'html':
      return escapeText(node.value)
    case 'paragraph':
      return inline(node.children)
    case 'heading':
      return wrapLines('*', inline(node.children).replaceAll('*', ''))
    case 'strong':
      return wrapLines('*', inline(node.children))
    case 'emphasis':
      return wrapLines('_', inline(node.children))
    case 'delete':
      return wrapLines('~', inline(node.children))
    case 'inlineCode':
      return `\`${escapeText(node.value)}\``
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
      return link(node.url, escapeText(node.alt || 'image'))
    case 'break':
      return '\n'
    case 'thematicBreak':
      return '──────────'
    case 'footnoteReference':
      return `[${escapeText(node.label ?? node.identifier)}]`
    case 'footnoteDefinition':
      return `[${escapeText(node.label ?? node.identifier)}] ${blocks(node.children)}`
    case 'linkReference':
      return inline(node.children)
    default:
      // Definitions and similar nodes produce no output.
      return ''
  }
}

function wrapLines(mark: string, text: string): string {
  const trimmed = text.trim()
  // Slack's marks must not span lines.
  return trimmed === '' ? '' : trimmed.replaceAll(/^.+$/gm, `${mark}$&${mark}`)
}

/** Separates inner backticks with zero-width characters, because three of them would end the block. */
function codeBlock(value: string): string {
  return `\`\`\`\n${escapeText(value).replaceAll('```', '`\u200b`\u200b`')}\n\`\`\``
}

function list({ ordered, start, children }: List): string {
  const firstNumber = start ?? 1
  return children
    .map((item, index) => {
      const bullet =
        item.checked == null ? (ordered ? `${firstNumber + index}.` : '•') : item.checked ? '☑' : '☐'
      return `${bullet} ${blocks(item.children, '\n').replaceAll('\n', '\n    ')}`
    })
    .join('\n')
}

/** Aligns columns in a code block, because Slack has no tables. */
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

/** Links only addresses that a browser may open; others become text. */
function link(url: string, label: string): string {
  if (!/^(https?:|mailto:)/i.test(url) || !URL.canParse(url)) return label
  const address = escapeText(url).replaceAll('|', '%7C')
  const linkText = label.replaceAll('|', '¦').replaceAll('\n', ' ').trim()
  return linkText === '' || linkText === address ? `<${address}>` : `<${address}|${linkText}>`
}
