import { randomUUID } from 'node:crypto'
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { gitignoreFor, skillsBlock } from '../workspace/gitignore.ts'
import { codeOf, type Paths } from '../workspace/paths.ts'

const maxFileBytes = 1024 * 1024

/**
 * Excludes delivered skills from the workspace's repository. The block precedes the required one, which must
 * be last.
 */
export async function writeIgnoreBlock(paths: Paths, names: readonly string[]): Promise<void> {
  const lines = names.flatMap((name) => [`/.claude/skills/${name}/`, `/.agents/skills/${name}`])
  const block = lines.length === 0 ? '' : `${[ignoreMarks.start, ...lines, ignoreMarks.end].join('\n')}\n`
  await change(paths, '.gitignore', (text) =>
    gitignoreFor(withBlock(text, ignoreMarks, [])).replace(
      /^# roost: floor begin$/m,
      (floor) => block + floor,
    ),
  )
}

const ignoreMarks = { start: skillsBlock.begin, end: skillsBlock.end }
const instructionFiles = ['CLAUDE.md', 'AGENTS.md', 'GEMINI.md']

/** Lists the skills in the instruction file that the runtime reads. */
export async function writeInstructionBlock(
  paths: Paths,
  skills: readonly { name: string; description: string | null }[],
): Promise<void> {
  const present = await Promise.all(instructionFiles.map((name) => isFile(join(paths.home, name))))
  const file = instructionFiles[Math.max(0, present.indexOf(true))] ?? 'CLAUDE.md'
  const lines = skills.map(({ name, description }) =>
    description ? `- \`${name}\`: ${oneLine(description)}` : `- \`${name}\``,
  )
  const marks = { start: '<!-- roost:skills -->', end: '<!-- /roost:skills -->' }
  const heading = ['## Platform skills', '', 'Kept up to date by the platform in `.claude/skills/`:', '']
  const block = lines.length === 0 ? [] : [...heading, ...lines]
  await change(paths, file, (text) => withBlock(text, marks, block))
}

/** Links each skill for runtimes that read another folder; other entries there stay. */
export async function linkSkills(paths: Paths, names: readonly string[]): Promise<void> {
  const folder = await paths.target(join(paths.home, '.agents', 'skills'))
  // The agent may have linked the whole folder.
  if (folder === (await paths.target(join(paths.home, '.claude', 'skills')))) return
  if (names.length > 0) await mkdir(folder, { recursive: true })
  const targetOf = (name: string) => join('..', '..', '.claude', 'skills', name)
  for (const name of await readdir(folder).catch(() => [])) {
    const isOurs = (await readlink(join(folder, name)).catch(() => null)) === targetOf(name)
    if (isOurs && !names.includes(name)) await rm(join(folder, name))
  }
  for (const name of names) {
    await symlink(targetOf(name), join(folder, name)).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  }
}

type Marks = { start: string; end: string }

/** Rewrites a file of the workspace if its text changed, and deletes it if it became empty. */
async function change(paths: Paths, name: string, edit: (text: string) => string): Promise<void> {
  const file = await paths.target(join(paths.home, name))
  const found = await stat(file).catch(() => null)
  // A file that is too large or not regular is left to the agent.
  if (found && (!found.isFile() || found.size > maxFileBytes)) return
  const before = found ? await readFile(file, 'utf8') : ''
  const after = edit(before)
  if (after === before) return
  if (after === '') return rm(file, { force: true })
  const part = join(paths.home, '.roost', `${randomUUID()}.part`)
  await mkdir(join(paths.home, '.roost'), { recursive: true })
  try {
    await writeFile(part, after, { mode: found ? found.mode & 0o777 : 0o644 })
    await rename(part, file)
  } finally {
    await rm(part, { force: true })
  }
}

/** Replaces an earlier block by the new one at the end of the text. Removes it when there are no lines. */
export function withBlock(text: string, { start, end }: Marks, lines: readonly string[]): string {
  const remaining: string[] = []
  let isInside = false
  const all = text.split('\n')
  // An opening mark without an end is ignored: the lines after it may belong to the user.
  const isClosed = (from: number) => all.indexOf(end, from) >= 0
  for (const [index, line] of all.entries()) {
    if (line === start && isClosed(index)) isInside = true
    else if (isInside && line === end) isInside = false
    else if (!isInside && !(line === start)) remaining.push(line)
  }
  const rest = remaining.join('\n').replace(/\n+$/, '')
  if (lines.length === 0) return rest === '' ? '' : `${rest}\n`
  return `${rest === '' ? '' : `${rest}\n\n`}${[start, ...lines, end].join('\n')}\n`
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('-->', '').trim().slice(0, 500)
}

async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null
}
