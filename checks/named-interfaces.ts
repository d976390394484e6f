import { blocksOf } from './agent-pages.ts'

/** A command line or a request that a document names. */
export type Named = { line: number; text: string }

/** The command lines of `roost` in the shell examples and the code spans of a document. */
export function commandLinesOf(markdown: string): Named[] {
  const blocks = blocksOf('', markdown).filter(({ language }) => language === 'sh')
  const inBlocks = blocks.flatMap(({ line, text }) =>
    text
      .replaceAll('\\\n', '  ')
      .split('\n')
      .map((each, index) => ({ line: line + 1 + index, text: each })),
  )
  const inSpans = markdown
    .split('\n')
    .flatMap((each, index) =>
      [...each.matchAll(/`([^`]+)`/g)].map(([, span]) => ({ line: index + 1, text: span ?? '' })),
    )
  return [...inBlocks, ...inSpans].flatMap(({ line, text }) =>
    text
      .replace(/(^|\s)#.*$/, '')
      // A choice in a table: `bash\|zsh`.
      .replaceAll(/\\\|\S+/g, '')
      .split(/\||&&|;|\$\(/)
      .map((part) => /^(?:\w+=\S+ )*(?:\.\/)?roost\s+(\S.*)$/.exec(part.trim())?.[1] ?? '')
      .filter((rest) => rest !== '')
      .map((rest) => ({ line, text: rest.replace(/[)"]+$/, '') })),
  )
}

type Described = { name: string; usage: readonly string[] }

/** Options that every client command has, and the help of all commands. */
const commonOptions = ['--json', '--server', '--help', '-h']

/** Why a command line cannot be entered; null if the table knows its command, its subcommand and its options. */
export function commandProblem(line: string, commands: readonly Described[]): string | null {
  const words = line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
  const [name = '', ...rest] = words[0] === 'help' ? words.slice(1) : words
  if (name === '' || /^(--version|COMMAND|…)$/.test(name)) return null
  const command = commands.find((each) => each.name === name)
  if (!command) return `there is no command "roost ${name}"`
  const subcommands = command.usage.flatMap((usage) => {
    const [, word = ''] = new RegExp(`^roost ${name} ([a-z][a-z|-]*)(?: |$)`).exec(usage) ?? []
    return word.split('|').filter(Boolean)
  })
  const [first = ''] = rest
  if (subcommands.length > 0 && /^[a-z]/.test(first) && !subcommands.includes(first))
    return `"roost ${name}" has no "${first}"`
  const usage = command.usage.join('\n')
  const unknown = rest
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/=.*$/, ''))
    .find((word) => !commonOptions.includes(word) && !new RegExp(`${word}(?![\\w-])`).test(usage))
  return unknown ? `"roost ${name}" has no option ${unknown}` : null
}

type Served = { method: string; path: string }

/** The requests of a document; `method` is null where it names a path alone. */
export function requestsOf(markdown: string): (Named & { method: string | null; path: string })[] {
  const pattern =
    /(?:\b(GET|POST|PUT|PATCH|DELETE)`?\s+)?(?:\$URL|https?:\/\/[^/\s`]+|localhost:\d+|(?<![\w.]))(\/api\/[^\s`"'<>)\],;|?]*)/g
  return [...markdown.matchAll(pattern)].map((match) => {
    const [text, method = null, path = ''] = match
    const before = markdown.slice(0, match.index + text.length)
    const start = before.lastIndexOf('\n') + 1
    const option = /-X (\w+)/.exec(markdown.slice(start, match.index))?.[1] ?? null
    return {
      line: before.split('\n').length,
      text,
      method: method ?? option,
      path: path.replace(/[.:]+$/, '').replace(/\/…?$/, '/*'),
    }
  })
}

/** True if an endpoint serves the path, with the method if there is one. A `*` at the end stands for any ending. */
export function isServed(
  request: { method: string | null; path: string },
  served: readonly Served[],
): boolean {
  const parts = request.path.split('/')
  const isOpen = parts.at(-1) === '*'
  if (isOpen) parts.pop()
  return served.some(({ method, path }) => {
    if (request.method !== null && request.method !== method) return false
    const segments = path.split('/')
    if (isOpen ? segments.length < parts.length : segments.length !== parts.length) return false
    return parts.every((part, index) => segments[index] === part || segments[index]?.startsWith('{'))
  })
}
