import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunGit } from './run.ts'

/**
 * Settings that run a program or read further settings, and whose names cannot be overridden in advance. `run.ts`
 * overrides the other ones.
 */
const refusedSetting =
  /^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|include\.path|includeif\..*\.path)$/s

/** Git reads these without following links, but waits for the other end of a pipe. */
const readFiles = ['.gitignore', '.gitattributes']
/** Objects are immutable and many, hooks never run, and submodules are reached through their folders. */
const skippedFolders = new Set(['objects', 'hooks', 'modules'])

/**
 * Refuses all commands while the repository could make git run a program or write through a link. Git runs as
 * `developer`, and everybody who may write to the workspace may change `.git`. Checked before each command, because an
 * earlier one may have added a nested repository.
 */
export function createCheckedGit(git: RunGit, home: string, isShared: () => boolean): RunGit {
  return async (args, options) => {
    // This one runs no program. Credentials in addresses are reported even for a refused repository.
    const isReadingSettings = args[0] === 'config' && args[1] === '--get-regexp'
    if (!isShared() || isReadingSettings) return git(args, options)
    const reason =
      (await pipeReason(home)) ??
      (await elsewhereReason(home)) ??
      (await linkReason(home, '.git')) ??
      (await settingReason(git, home, '.'))
    if (reason === null) return git(args, options)
    const error = `fatal: ${reason} Others may write to this workspace, so the platform does not use it with git. Remove the cause, or run git in the terminal.`
    return { ok: false, output: '', error, isTruncated: false }
  }
}

async function pipeReason(home: string): Promise<string | null> {
  for (const name of readFiles) {
    const found = await lstat(join(home, name)).catch(() => null)
    if (found?.isFIFO()) return `${name} is a pipe.`
  }
  return null
}

/** Everything that git writes must be in the folder that is checked for links. */
async function elsewhereReason(home: string): Promise<string | null> {
  const found = await lstat(join(home, '.git')).catch(() => null)
  const isElsewhere = found?.isFile() || (await lstat(join(home, '.git', 'commondir')).catch(() => null))
  return isElsewhere ? '.git refers to another folder.' : null
}

async function linkReason(home: string, path: string): Promise<string | null> {
  const found = await lstat(join(home, path)).catch(() => null)
  if (found?.isSymbolicLink() || found?.isFIFO()) return `${shown(path)} is a link or a pipe.`
  if (!found?.isDirectory()) return null
  const entries = await readdir(join(home, path), { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (entry.isFile() || (path === '.git' && skippedFolders.has(entry.name))) continue
    const reason = await linkReason(home, `${path}/${entry.name}`)
    if (reason !== null) return reason
  }
  return null
}

/** Also checks submodules and other nested repositories: git runs there with their own settings. */
async function settingReason(git: RunGit, home: string, folder: string): Promise<string | null> {
  const inFolder = ['-C', folder, '--git-dir=.git', '--work-tree=.']
  const settings = await git([...inFolder, 'config', '--null', '--name-only', '--list'])
  const refused = settings.output.split('\0').find((name) => refusedSetting.test(name))
  if (refused !== undefined) return `The git settings of "${shown(folder)}" have ${shown(refused)}.`
  const files = await git([...inFolder, 'ls-files', '--stage', '--abbrev=4', '-z'])
  if (settings.isTruncated || files.isTruncated)
    return `The repository "${shown(folder)}" is too large to be checked for nested ones.`
  for (const entry of files.output.split('\0')) {
    if (!entry.startsWith('160000 ')) continue
    const nested = join(folder, entry.slice(entry.indexOf('\t') + 1))
    const isRepository = await lstat(join(home, nested, '.git')).catch(() => null)
    const reason = isRepository && (await settingReason(git, home, nested))
    if (reason) return reason
  }
  return null
}

/** A name of the workspace as part of one line. */
function shown(name: string): string {
  return name.replaceAll(/\s/g, ' ').slice(0, 100)
}
