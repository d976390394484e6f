import type { z } from 'zod'

/** A fenced block of a Markdown page. `language` and `about` are the words after the fence. */
export type Block = { page: string; line: number; language: string; about: string; text: string }

/** Returns the fenced blocks of a page, also indented ones. */
export function blocksOf(page: string, markdown: string): Block[] {
  const blocks: Block[] = []
  let open: (Block & { indent: string }) | null = null
  for (const [index, line] of markdown.split('\n').entries()) {
    const [, indent = '', info = ''] = /^( *)```(.*)$/.exec(line) ?? []
    if (!line.trimStart().startsWith('```')) {
      if (open) open.text += `${line.startsWith(open.indent) ? line.slice(open.indent.length) : line}\n`
    } else if (open) {
      const { indent: _, ...block } = open
      blocks.push(block)
      open = null
    } else {
      const [language = '', ...about] = info.trim().split(' ')
      open = { page, line: index + 1, language, about: about.join(' '), text: '', indent }
    }
  }
  return blocks
}

/** The names in the first column of the page's tables, one for each code span that starts its cell. */
export function firstColumn(markdown: string, heading?: string): string[] {
  const part = heading === undefined ? markdown : sectionOf(markdown, heading)
  return part
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''))
}

/** The text below a heading, up to the next one of the same or a higher level. */
export function sectionOf(markdown: string, heading: string): string {
  const lines = markdown.split('\n')
  const start = lines.indexOf(heading)
  if (start < 0) throw new Error(`The page has no heading "${heading}".`)
  const level = heading.indexOf(' ')
  let isInside = false
  const end = lines.findIndex((line, index) => {
    if (line.startsWith('```')) isInside = !isInside
    return index > start && !isInside && /^#+ /.test(line) && line.indexOf(' ') <= level
  })
  return lines.slice(start, end < 0 ? undefined : end).join('\n')
}

/** The paths of all fields of a schema: `resources.cpu`, `schedules[].cron`, `servers.<server>.env`. */
export function fieldsOf(schema: unknown, path = ''): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'catch':
      return fieldsOf(def.innerType, path)
    case 'pipe':
      return fieldsOf(def.in, path)
    case 'array':
      return fieldsOf(def.element, `${path}[]`)
    case 'record':
      return fieldsOf(
        def.valueType,
        `${path}.<${path
          .split('.')
          .at(-1)
          ?.replace(/^mcp_|s$/g, '')}>`,
      )
    case 'union':
      return [...new Set(def.options.flatMap((option) => fieldsOf(option, path)))]
    case 'object':
      return Object.entries(def.shape).flatMap(([key, field]) => {
        const at = path === '' ? key : `${path}.${key}`
        return [at, ...fieldsOf(field, at)]
      })
    default:
      return []
  }
}
