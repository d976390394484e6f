import { TemplateFile } from '@roost/contracts/agents/templates'
import { LineCounter, parseDocument, visit } from 'yaml'
import { Fault } from '../../kit/fault.ts'

export const maxTemplateBytes = 256 * 1024

/**
 * `template.yaml`, which comes from anybody: at most 256 KiB, no aliases, no duplicate keys, no custom
 * tags. Throws `template_unresolvable` that says what is wrong and, where it can be told, on which line.
 */
export function parseTemplate(text: string): TemplateFile {
  if (Buffer.byteLength(text) > maxTemplateBytes) throw unresolvable('it is larger than 256 KiB')
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    customTags: [],
    resolveKnownTags: false,
    merge: false,
    logLevel: 'silent',
  })
  const problem = document.errors[0] ?? document.warnings[0]
  if (problem) {
    throw unresolvable(
      problem.message.split('\n', 1)[0] ?? 'it is not YAML',
      lines.linePos(problem.pos[0]).line,
    )
  }
  visit(document, {
    Alias: (_key, node) => {
      throw unresolvable('aliases are not allowed', lineOf(lines, node.range))
    },
    Node: (_key, node) => {
      if (node.anchor) throw unresolvable('anchors are not allowed', lineOf(lines, node.range))
      if (node.tag && !node.tag.startsWith('tag:yaml.org,2002:')) {
        throw unresolvable('custom tags are not allowed', lineOf(lines, node.range))
      }
    },
  })
  const result = TemplateFile.safeParse(document.toJS({ maxAliasCount: 0 }) ?? {})
  if (!result.success) {
    const issue = result.error.issues[0]
    const path = issue?.path.map(String) ?? []
    const node = path.length > 0 ? document.getIn(path.slice(0, 1), true) : undefined
    const line = hasRange(node) ? lineOf(lines, node.range) : undefined
    const isMissing = issue?.code === 'invalid_type' && path.length > 0 && !document.hasIn(path)
    const what = isMissing ? 'is required' : (issue?.message ?? 'is not valid')
    throw unresolvable(`${path.join('.') || 'the document'}: ${what}`, line)
  }
  return result.data
}

function unresolvable(what: string, line?: number): Fault {
  const where = line === undefined ? '' : ` (line ${line})`
  return new Fault(
    'template_unresolvable',
    `template.yaml cannot be read: ${what}${where}.`,
    line ? { line } : {},
  )
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

function lineOf(lines: LineCounter, range: readonly number[] | null | undefined): number | undefined {
  return range?.[0] === undefined ? undefined : lines.linePos(range[0]).line
}
