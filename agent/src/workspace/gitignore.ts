import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './paths.ts'

const block = { begin: '# roost: begin', end: '# roost: end' }
const floorBlock = { begin: '# roost: floor begin', end: '# roost: floor end' }
/** What nobody wants in a repository and somebody may. */
const usual = ['node_modules/', '__pycache__/', '*.log', '.DS_Store', '.roost-initialized']
/** What is never in a repository. It stands last: in this file the last line that fits wins. */
const floor = ['.env', '.mcp.json', '.credentials.enc', '.ssh', '.roost', '.tmp']

/** Keeps the user's lines between the platform's own and the floor; does nothing when the file is as it should be. */
export async function writeGitignore(home: string): Promise<void> {
  const path = join(home, '.gitignore')
  const found = await lstat(path).catch(() => null)
  if (found && !found.isFile()) return
  const present = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  })
  const wanted = gitignoreFor(present)
  if (wanted !== present) await writeFile(path, wanted)
}

export function gitignoreFor(present: string): string {
  const own = withoutBlocks(present.split('\n')).join('\n').trim()
  return [
    [block.begin, ...usual, block.end].join('\n'),
    ...(own === '' ? [] : [own]),
    [floorBlock.begin, ...floor, floorBlock.end, ''].join('\n'),
  ].join('\n')
}

function withoutBlocks(lines: string[]): string[] {
  const kept: string[] = []
  let until: string | null = null
  for (const line of lines) {
    // A block without an end is the user's lines: somebody took its end away.
    const opened = [block, floorBlock].find(({ begin, end }) => line === begin && lines.includes(end))
    if (until === null && opened) until = opened.end
    else if (until === null) kept.push(line)
    else if (line === until) until = null
  }
  return kept
}
