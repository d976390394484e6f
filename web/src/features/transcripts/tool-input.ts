import { type Fields, fieldsOf, stringOrNull } from './fields.ts'

/** The display form of a tool's input. `json` has the remaining fields, or all of them. */
export type ToolInput =
  | { kind: 'command'; command: string; description: string | null; rest: Fields }
  | { kind: 'edit'; path: string; edits: { before: string; after: string }[]; rest: Fields }
  | { kind: 'write'; path: string; content: string; rest: Fields }
  | { kind: 'json'; input: unknown }

/** Recognized by the fields, because runtimes name their tools differently. */
export function toolInputOf(input: unknown): ToolInput {
  const fields = fieldsOf(input)
  const command = commandOf(fields)
  if (command !== null) {
    const description = stringOrNull(fields.description)
    return { kind: 'command', command, description, rest: without(fields, ['command', 'description']) }
  }
  const path = pathOf(fields)
  if (path === null) return { kind: 'json', input }
  const edits = editsOf(fields)
  if (edits.length > 0) {
    return {
      kind: 'edit',
      path,
      edits,
      rest: without(fields, [...pathNames, 'old_string', 'new_string', 'edits']),
    }
  }
  const content = stringOrNull(fields.content)
  if (content !== null)
    return { kind: 'write', path, content, rest: without(fields, [...pathNames, 'content']) }
  return { kind: 'json', input }
}

/** A one-line summary of a call, at most 200 characters; empty when no short field exists. */
export function summaryOf(input: unknown): string {
  const fields = fieldsOf(input)
  const command = commandOf(fields)
  const words =
    command ??
    stringOrNull(summaryNames.map((name) => fields[name]).find((value) => typeof value === 'string'))
  if (words !== null) return oneLine(words)
  const changed = Array.isArray(fields.changes)
    ? fields.changes.map((change) => pathOf(fieldsOf(change)))
    : []
  if (changed.length > 0) return oneLine(changed.filter((path) => path !== null).join(', '))
  const [first] = Object.values(fields).filter((value) => typeof value === 'string')
  return oneLine(stringOrNull(first) ?? '')
}

const pathNames = ['file_path', 'path', 'notebook_path', 'absolute_path']
/** Most specific first. */
const summaryNames = [...pathNames, 'pattern', 'query', 'url', 'description', 'skill', 'prompt']

function commandOf({ command }: Fields): string | null {
  if (Array.isArray(command) && command.every((word) => typeof word === 'string')) return command.join(' ')
  return stringOrNull(command)
}

function pathOf(fields: Fields): string | null {
  return stringOrNull(pathNames.map((name) => fields[name]).find((value) => typeof value === 'string'))
}

function editsOf(fields: Fields): { before: string; after: string }[] {
  const edits = Array.isArray(fields.edits) ? fields.edits.map(fieldsOf) : [fields]
  return edits.flatMap(({ old_string, new_string }) =>
    typeof old_string === 'string' && typeof new_string === 'string'
      ? [{ before: old_string, after: new_string }]
      : [],
  )
}

function without(fields: Fields, names: string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}

function oneLine(text: string): string {
  const line = text.slice(0, 1000).replace(/\s+/g, ' ').trim()
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}

/** An edit as removed (`-`), added (`+`) and unchanged lines. */
export function differenceOf({ before, after }: { before: string; after: string }): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  const shorter = Math.min(old.length, now.length)
  let start = 0
  while (start < shorter && old[start] === now[start]) start += 1
  let end = 0
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1
  return [
    ...old.slice(0, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end).map((line) => ` ${line}`),
  ].join('\n')
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

/** The language of a file by its name, as in code fences; empty when unknown. */
export function languageOfPath(path: string): string {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(languages, ending) ? (languages[ending] ?? '') : ''
}

const languages: Record<string, string> = {
  ts: 'typescript',
  tsx: 'typescript',
  mts: 'typescript',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  json: 'json',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  go: 'go',
  java: 'java',
  kt: 'kotlin',
  c: 'c',
  h: 'c',
  cpp: 'cpp',
  cs: 'csharp',
  php: 'php',
  swift: 'swift',
  sh: 'bash',
  bash: 'bash',
  sql: 'sql',
  css: 'css',
  scss: 'scss',
  html: 'xml',
  xml: 'xml',
  svg: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
  toml: 'ini',
  ini: 'ini',
  md: 'markdown',
}
