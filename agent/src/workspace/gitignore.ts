import { editPlainFile } from './plain-file.ts'

const block = { begin: '# roost: begin', end: '# roost: end' }
const requiredBlock = { begin: '# roost: floor begin', end: '# roost: floor end' }
/** Delivered skills; the block precedes the required one. */
export const skillsBlock = { begin: '# roost: skills begin', end: '# roost: skills end' }
/** Usually unwanted in a repository, but users may override these lines. */
const defaults = ['node_modules/', '__pycache__/', '*.log', '.DS_Store', '.roost-initialized']
/** Never in a repository. It comes last, because the last matching line of the file wins. */
const required = ['.env', '.mcp.json', '.credentials.enc', '.ssh', '.roost', '.tmp']

/** Keeps the user's lines between the two blocks of the platform. Writes only if something changed. */
export async function writeGitignore(home: string): Promise<void> {
  await editPlainFile(home, '.gitignore', gitignoreFor)
}

export function gitignoreFor(present: string): string {
  const own = withoutBlocks(present.split('\n')).join('\n').trim()
  return [
    [block.begin, ...defaults, block.end].join('\n'),
    ...(own === '' ? [] : [own]),
    [requiredBlock.begin, ...required, requiredBlock.end, ''].join('\n'),
  ].join('\n')
}

/** The lines of the user. */
export function ownLines(text: string): string {
  return withoutBlocks(text.split('\n'), [block, requiredBlock, skillsBlock]).join('\n').trim()
}

/** Returns the user's lines of `text` with the platform's lines of `from`. */
export function withPlatformLines(text: string, from: string): string {
  const [, skills = ''] =
    new RegExp(`^(${skillsBlock.begin}\n[^]*?^${skillsBlock.end}\n)`, 'm').exec(from) ?? []
  const begin = `${requiredBlock.begin}\n`
  return gitignoreFor(ownLines(text)).replace(begin, () => skills + begin)
}

function withoutBlocks(lines: string[], blocks = [block, requiredBlock]): string[] {
  const userLines: string[] = []
  let until: string | null = null
  for (const line of lines) {
    // A start mark without an end belongs to the user's lines.
    const opened = blocks.find(({ begin, end }) => line === begin && lines.includes(end))
    if (until === null && opened) until = opened.end
    else if (until === null) userLines.push(line)
    else if (line === until) until = null
  }
  return userLines
}
