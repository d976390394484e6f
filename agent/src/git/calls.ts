import { type GitBranches, type GitTransfer, pullStrategies, syncStrategies } from '@roost/contracts/link/git'
import type { PlatformCalls } from '@roost/contracts/link/messages'
import { type Json, listAt, numberAt, objectAt, textAt } from '../kit/json.ts'
import { LinkFault } from '../link/link.ts'
import type { WorkspaceGit } from './git.ts'

type GitCall = Extract<keyof PlatformCalls, `git.${string}`>
type Handlers = { [T in GitCall]: (message: Json) => Promise<PlatformCalls[T]['answer']> }

/** Handles git requests of the platform. `git` is loaded at first use. */
export function createGitCalls(git: () => Promise<WorkspaceGit>): Handlers {
  return {
    'git.look': async (message) =>
      (await git()).look({
        branches: branches(message),
        transfer: message.transfer ? transfer(message) : null,
      }),
    'git.log': async (message) => (await git()).log(numberAt(message, 'limit') ?? invalid('limit')),
    'git.change': async (message) =>
      (await git()).change({ from_sha: sha(message, 'from_sha'), to_sha: sha(message, 'to_sha') }),
    'git.bind': async (message) =>
      (await git()).bind({
        branches: branches(message),
        transfer: transfer(message),
        remote_url: text(message, 'remote_url'),
        commit: textAt(message, 'commit'),
      }),
    'git.sync': async (message) =>
      (await git()).sync({
        branches: branches(message),
        transfer: transfer(message),
        message: text(message, 'message'),
        paths:
          message.paths === null ? null : listAt(message, 'paths').filter((path) => typeof path === 'string'),
        strategy: oneOf(syncStrategies, message),
      }),
    'git.pull': async (message) =>
      (await git()).pull({
        branches: branches(message),
        transfer: transfer(message),
        strategy: oneOf(pullStrategies, message),
      }),
    'git.initialize': async (message) =>
      (await git()).initialize({
        branches: branches(message),
        transfer: transfer(message),
        remote_url: text(message, 'remote_url'),
        message: text(message, 'message'),
      }),
    'git.reset': async (message) =>
      (await git()).reset({
        branches: branches(message),
        transfer: transfer(message),
        stamp: stamp(message),
      }),
  }
}

function branches(message: Json): GitBranches {
  const value = objectAt(message, 'branches')
  return {
    working: text(value, 'working'),
    source: text(value, 'source'),
    source_mode: value.source_mode === true,
  }
}

function transfer(message: Json): GitTransfer {
  const value = objectAt(message, 'transfer')
  return { url: text(value, 'url'), ticket: text(value, 'ticket') }
}

function oneOf<T extends string>(known: readonly T[], message: Json): T {
  return known.find((each) => each === message.strategy) ?? invalid('strategy')
}

function text(message: Json, key: string): string {
  return textAt(message, key) ?? invalid(key)
}

/** A full commit id, which git cannot mistake for an option. */
function sha(message: Json, key: string): string {
  const value = text(message, key)
  return /^[0-9a-f]{40,64}$/.test(value) ? value : invalid(key)
}

/** A safe part of a path and of a ref. */
function stamp(message: Json): string {
  const value = text(message, 'stamp')
  return /^[A-Za-z0-9-]{1,40}$/.test(value) ? value : invalid('stamp')
}

function invalid(key: string): never {
  throw new LinkFault('invalid_message', `The field "${key}" is missing or invalid.`)
}
