import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'

/** The code of this folder cannot be changed; the message says why. */
export class CheckoutError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CheckoutError'
  }
}

/** A repository of git with a working tree. All methods throw `CheckoutError`. */
export type Checkout = {
  git(...args: string[]): Promise<string>
  head(): Promise<string>
  /** Throws for changed files, which it names. */
  refuseChanges(): Promise<void>
  has(commit: string): Promise<boolean>
  isAncestor(commit: string, of: string): Promise<boolean>
  /** Moves the current branch, or the detached state, and loses no changes. */
  moveTo(commit: string): Promise<void>
  /** Completes an interrupted `moveTo`, which began without changed files. */
  forceTo(commit: string): Promise<void>
}

/** Null for a folder without a repository of its own. */
export function openCheckout(root: string): Checkout | null {
  if (!existsSync(join(root, '.git'))) return null
  const attempt = (args: string[]) => run('git', args, { cwd: root, env: gitEnvironment() })
  const git = async (...args: string[]) => {
    const { code, stdout, lastLines } = await attempt(args)
    if (code === 0) return stdout.trim()
    throw new CheckoutError(`git ${args[0]} failed: ${lastLines.join('\n') || 'git is missing'}`)
  }
  const move = async (commit: string, how: '--keep' | '--hard') => {
    const isOnBranch = (await attempt(['symbolic-ref', '-q', 'HEAD'])).code === 0
    if (isOnBranch || how === '--hard') await git('reset', '-q', how, commit)
    else await git('checkout', '-q', '--detach', commit)
  }
  return {
    git,
    head: () => git('rev-parse', 'HEAD'),
    async refuseChanges() {
      const changes = await git('status', '--porcelain', '--untracked-files=no')
      if (changes !== '') throw new CheckoutError(`These files are changed and not committed:\n${changes}`)
    },
    has: async (commit) => (await attempt(['cat-file', '-e', `${commit}^{commit}`])).code === 0,
    isAncestor: async (commit, of) => (await attempt(['merge-base', '--is-ancestor', commit, of])).code === 0,
    moveTo: (commit) => move(commit, '--keep'),
    async forceTo(commit) {
      await rm(join(root, '.git/index.lock'), { force: true })
      await move(commit, '--hard')
    },
  }
}

/** Without variables of git, which could name another repository. */
function gitEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return { ...Object.fromEntries(own), GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }
}
