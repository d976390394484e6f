import { dirname, join } from 'node:path'

/** Returns the broken relative links of a Markdown document. `path` is relative to the repository. */
export function brokenLinks(path: string, text: string, exists: (path: string) => boolean): string[] {
  return text.split('\n').flatMap((line, index) =>
    [...line.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !/^[a-z]+:/.test(target) && !exists(join(dirname(path), target)))
      .map((target) => `${path}:${index + 1}: the link to ${target} leads nowhere`),
  )
}

/** Returns the pages that the index does not link to. Paths are relative to the folder of the index. */
export function unlistedPages(index: string, pages: readonly string[]): string[] {
  const linked = new Set([...index.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map((match) => match[1]))
  return pages.filter((page) => !linked.has(page)).map((page) => `docs/README.md: no link leads to ${page}`)
}

/**
 * Returns the steps of the walks in ARCHITECTURE.md that name no file or folder. A step such as `runs/dispatch/accept`
 * is a path below `src` of the server, the agent program or the MCP server.
 */
export function walkProblems(architecture: string, exists: (path: string) => boolean): string[] {
  const [, walks = ''] = /^## Walks$([\s\S]*?)^## /m.exec(architecture) ?? []
  const blocks = [...walks.matchAll(/^```$([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '')
  const steps = blocks.flatMap((block) =>
    [...block.matchAll(/(?:^|[\s(])([a-z-]+(?:\/[a-z-]+)+)/g)].map((match) => match[1] ?? ''),
  )
  if (steps.length === 0) return ['ARCHITECTURE.md: the walks name no path']
  const isFound = (step: string) =>
    ['server', 'agent', 'mcp'].some((part) =>
      [`/src/${step}`, `/src/${step}.ts`].some((path) => exists(part + path)),
    )
  return [...new Set(steps)]
    .map((step) => step.replace(/^mcp\//, ''))
    .filter((step) => !isFound(step))
    .map((step) => `ARCHITECTURE.md: the walk names ${step}, which does not exist`)
}

/** A decision record: the name of its file and its text. */
export type DecisionRecord = { name: string; text: string }

const maxRecordLines = 60

/** Returns the problems of the decision records: their form and their entries in the index. */
export function recordProblems(index: string, records: readonly DecisionRecord[]): string[] {
  const rows = [...index.matchAll(/^\| (\d+) \| \[(.+)\]\((\S+)\) \|$/gm)]
  const expected = records.flatMap(({ name, text }) => {
    const title = /^# (\d+)\. (.+)$/m.exec(text)
    return title ? [`| ${title[1]} | [${title[2]}](${name}) |`] : []
  })
  const listed = rows.map(([row]) => row)
  const numbers = records.map(({ name }) => Number(name.slice(0, 4)))
  const gaps = Array.from({ length: Math.max(0, ...numbers) }, (_, at) => at + 1).filter(
    (number) => !numbers.includes(number),
  )
  const gapNote = /^Numbers? (.+) (?:was|were) never used\.$/m.exec(index)?.[1] ?? ''
  const noted = [...gapNote.matchAll(/\d+/g)].map(([number]) => Number(number))
  return [
    ...records.flatMap(formProblems),
    ...expected.filter((row) => !listed.includes(row)).map((row) => `README.md lacks the row ${row}`),
    ...listed.filter((row) => !expected.includes(row)).map((row) => `README.md has no record for ${row}`),
    ...(gaps.join() === noted.join() ? [] : [`README.md must name the unused numbers ${gaps.join(', ')}`]),
  ].map((problem) => `docs/decisions/${problem}`)
}

function formProblems({ name, text }: DecisionRecord): string[] {
  const lines = text.trimEnd().split('\n')
  const number = /^# (\d+)\. .+$/.exec(lines[0] ?? '')?.[1]
  const missing = ['Context', 'Decision', 'Consequences'].filter((part) => !lines.includes(`## ${part}`))
  return [
    ...(number === undefined || number.padStart(4, '0') !== name.slice(0, 4)
      ? [`${name}: the first line must be "# <number of the file>. <topic>"`]
      : []),
    ...missing.map((part) => `${name}: the section "## ${part}" is missing`),
    ...(lines.length > maxRecordLines ? [`${name}: has more than ${maxRecordLines} lines`] : []),
  ]
}

/**
 * Returns the differences between the table of features in ARCHITECTURE.md and the folders. `folders` has one
 * entry per area, such as `server/src/runs/`, with its feature folders.
 */
export function mapProblems(architecture: string, folders: ReadonlyMap<string, readonly string[]>): string[] {
  const rows = new Map(
    [...architecture.matchAll(/^\| `(server\/src\/[a-z-]+\/)` \| (.+) \|$/gm)].map((match) => [
      match[1] ?? '',
      (match[2] ?? '').split(', '),
    ]),
  )
  return [...folders].flatMap(([area, features]) => {
    const named = rows.get(area)
    if (!named) return [`ARCHITECTURE.md: the table of features lacks the row ${area}`]
    return [
      ...features
        .filter((name) => !named.includes(name))
        .map((name) => `ARCHITECTURE.md: ${area} lacks ${name}`),
      ...named
        .filter((name) => !features.includes(name))
        .map((name) => `ARCHITECTURE.md: ${area}${name} does not exist`),
    ]
  })
}
