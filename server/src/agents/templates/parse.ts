import { TemplateFile, type TemplateWarning } from '@roost/contracts/agents/templates'
import { type UnknownKey, unknownKeys } from '@roost/contracts/kit/unknown-keys'
import { type Document, isMap, isScalar, LineCounter, visit } from 'yaml'
import { z } from 'zod'
import { Fault } from '../../kit/fault.ts'
import { readYaml } from '../../kit/yaml.ts'
import { ScheduleEntry } from './schedules.ts'

export const maxTemplateBytes = 256 * 1024
/** Warnings per file; further ones are counted in one more. */
const maxWarnings = 50

export type ReadTemplate = { file: TemplateFile; warnings: TemplateWarning[] }

export function parseTemplate(text: string): TemplateFile {
  return readTemplate(text).file
}

/**
 * Parses an untrusted `template.yaml`: at most 256 KiB, no aliases, duplicate keys or custom tags. Unknown keys become
 * warnings. Throws `template_unresolvable` that names the problem and, if known, its line.
 */
export function readTemplate(text: string): ReadTemplate {
  if (Buffer.byteLength(text) > maxTemplateBytes) throw unresolvable('it is larger than 256 KiB')
  const lines = new LineCounter()
  const document = readYaml(text, {
    lineCounter: lines,
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
  const content: unknown = document.toJS({ maxAliasCount: 0 }) ?? {}
  const result = TemplateFile.safeParse(content)
  if (!result.success) {
    const issue = result.error.issues[0]
    const path = issue?.path.map(String) ?? []
    const node = path.length > 0 ? document.getIn(path.slice(0, 1), true) : undefined
    const line = hasRange(node) ? lineOf(lines, node.range) : undefined
    const isMissing = issue?.code === 'invalid_type' && path.length > 0 && !document.hasIn(path)
    const what = isMissing ? 'is required' : (issue?.message ?? 'is not valid')
    throw unresolvable(`${path.join('.') || 'the document'}: ${what}`, line)
  }
  return { file: result.data, warnings: warningsAbout(content, document, lines) }
}

/** All keys that have an effect. */
export const TemplateKeys = TemplateFile.extend({ schedules: z.array(ScheduleEntry) })

function warningsAbout(content: unknown, document: Document, lines: LineCounter): TemplateWarning[] {
  const unknown = unknownKeys(TemplateKeys, content).filter(({ key }) => !key.startsWith('x-'))
  const warnings = unknown.slice(0, maxWarnings).map((unknownKey) => {
    const line = lineOf(lines, keyRange(document, unknownKey))
    const where = unknownKey.path.length === 0 ? 'template.yaml' : formatPath(unknownKey.path)
    const atLine = line === undefined ? '' : ` (line ${line})`
    return {
      path: formatPath([...unknownKey.path, unknownKey.key]),
      message: `Unknown key "${truncated(unknownKey.key)}" in ${where} is ignored${atLine}. Known keys: ${unknownKey.known.join(', ')}.`,
    }
  })
  if (unknown.length > maxWarnings) {
    const message = `${unknown.length - maxWarnings} more unknown keys are ignored.`
    warnings.push({ path: 'template.yaml', message })
  }
  return warnings
}

function keyRange(document: Document, { path, key }: UnknownKey): readonly number[] | null | undefined {
  const parent = path.length === 0 ? document.contents : document.getIn(path, true)
  if (!isMap(parent)) return undefined
  const pair = parent.items.find((each) => isScalar(each.key) && String(each.key.value) === key)
  return isScalar(pair?.key) ? pair.key.range : undefined
}

/** `schedules[0].name`; untrusted names are truncated. */
function formatPath(path: UnknownKey['path']): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : index === 0 ? truncated(part) : `.${truncated(part)}`,
    )
    .join('')
}

function truncated(key: string): string {
  return key
    .slice(0, 100)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed()
}

function unresolvable(problem: string, line?: number): Fault {
  const where = line === undefined ? '' : ` (line ${line})`
  return new Fault(
    'template_unresolvable',
    `template.yaml cannot be read: ${problem}${where}.`,
    line ? { line } : {},
  )
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

function lineOf(lines: LineCounter, range: readonly number[] | null | undefined): number | undefined {
  return range?.[0] === undefined ? undefined : lines.linePos(range[0]).line
}
