import { type HistoryRules, historyRulesFault } from '@roost/contracts/link/history'
import type { AgentSettings, PlatformCalls } from '@roost/contracts/link/messages'
import type { CredentialStore } from './credentials/store.ts'
import { createGitCalls } from './git/calls.ts'
import type { WorkspaceGit } from './git/git.ts'
import type { History } from './history/history.ts'
import type { Restores } from './history/restore.ts'
import { createRestoreCalls } from './history/restore-calls.ts'
import { isObject, type Json, listAt, numberAt, objectAt, textAt } from './kit/json.ts'
import { LinkFault } from './link/link.ts'
import type { QueueWatch } from './operator-queue/watch.ts'
import { manifestOf, settledOf } from './skills/manifest.ts'
import type { Skills } from './skills/skills.ts'
import type { Terminals } from './terminal/terminals.ts'
import type { Transfers } from './transfer/transfers.ts'
import type { Runs } from './turns/runs.ts'
import { deletePath, makeDirectory, movePath } from './workspace/change.ts'
import type { Checks } from './workspace/check.ts'
import { listFiles } from './workspace/list.ts'
import type { Packer } from './workspace/pack.ts'
import type { Paths } from './workspace/paths.ts'
import { readChunk, statFile } from './workspace/read.ts'
import { createAuthorizedKeys, readHostKeys } from './workspace/ssh-keys.ts'
import type { Writer } from './workspace/write.ts'

export type CallDeps = {
  runs: Pick<Runs, 'cancel'>
  queue: Pick<QueueWatch, 'report'>
  paths: Paths
  /** Folder of the login keys. */
  ssh: string
  /** Folder of the SSH server's host keys; their private halves are closed to this program. */
  hostKeys: string
  git(): Promise<WorkspaceGit>
  writer: Writer
  packer: Packer
  skills(): Promise<Skills>
  credentials(): Promise<CredentialStore>
  terminals(): Promise<Terminals>
  restores(): Promise<Restores>
  transfers(): Promise<Transfers>
  history(): Promise<History>
  applySettings(settings: AgentSettings): void
  dropSession(sessionId: string): void
  info(): Promise<PlatformCalls['info']['answer']>
  preCheck(): Promise<PlatformCalls['precheck']['answer']>
  checks(): Promise<Checks>
}

type Handlers = {
  [T in keyof PlatformCalls]: (message: Json) => Promise<PlatformCalls[T]['answer']>
}

/** Handles every request that the platform may send to this agent. */
export function createCallHandler(deps: CallDeps): (t: string, message: Json) => Promise<object> {
  const { paths } = deps
  const setAuthorizedKeys = createAuthorizedKeys(deps.ssh)
  const handlers: Handlers = {
    cancel: (message) =>
      deps.runs.cancel(
        text(message, 'execution_id'),
        number(message, 'claim_token'),
        number(message, 'grace_seconds') * 1000,
      ),
    'fs.list': (message) =>
      listFiles(paths, {
        path: text(message, 'path'),
        depth: number(message, 'depth'),
        show_hidden: message.show_hidden === true,
        limit: number(message, 'limit'),
      }),
    'fs.stat': (message) => statFile(paths, text(message, 'path'), message.guarded === true),
    'fs.read': (message) =>
      readChunk(paths, { path: text(message, 'path'), guarded: message.guarded === true, ...range(message) }),
    'fs.write': (message) =>
      deps.writer.write({
        path: text(message, 'path'),
        upload_id: text(message, 'upload_id'),
        offset: count(message, 'offset'),
        data_base64: text(message, 'data_base64'),
        last: message.last === true,
        on_conflict: message.on_conflict === 'rename' ? 'rename' : 'replace',
        guarded: message.guarded === true,
        ...(message.mode === undefined ? {} : { mode: count(message, 'mode') }),
      }),
    'fs.delete': (message) =>
      deletePath(paths, { path: text(message, 'path'), guarded: message.guarded === true }),
    'fs.mkdir': (message) =>
      makeDirectory(paths, { path: text(message, 'path'), guarded: message.guarded === true }),
    'fs.move': (message) =>
      movePath(paths, {
        from: text(message, 'from'),
        to: text(message, 'to'),
        guarded: message.guarded === true,
      }),
    'fs.pack': (message) =>
      deps.packer.pack(text(message, 'path'), number(message, 'max_bytes'), message.guarded === true),
    'fs.read_pack': (message) => deps.packer.read({ handle: text(message, 'handle'), ...range(message) }),
    ...transferCalls(deps.transfers),
    async settings(message) {
      deps.applySettings(settingsOf(objectAt(message, 'settings')))
      return { ok: true }
    },
    async 'session.drop'(message) {
      deps.dropSession(text(message, 'session_id'))
      return { ok: true }
    },
    info: () => deps.info(),
    precheck: () => deps.preCheck(),
    'check.run': async (message) =>
      (await deps.checks()).run({
        id: text(message, 'check_id'),
        command: text(message, 'command'),
        seconds: number(message, 'timeout_seconds'),
      }),
    async 'ssh.keys'(message) {
      const keys = listAt(message, 'keys').filter((key) => typeof key === 'string')
      await setAuthorizedKeys(keys)
      return { ok: true, host_keys: await readHostKeys(deps.hostKeys) }
    },
    'credentials.status': async () => (await deps.credentials()).status(),
    async 'credentials.write'(message) {
      const store = await deps.credentials()
      await store.write({
        upload_id: text(message, 'upload_id'),
        path: text(message, 'path'),
        offset: count(message, 'offset'),
        data_base64: text(message, 'data_base64'),
      })
      return { ok: true }
    },
    'credentials.commit': async (message) =>
      (await deps.credentials()).commit(
        text(message, 'upload_id'),
        listAt(message, 'paths').filter((path) => typeof path === 'string'),
      ),
    'credentials.read': async (message) =>
      (await deps.credentials()).read({
        path: text(message, 'path'),
        ...range(message),
        ownersOnly: message.owners_only === true,
      }),
    async 'credentials.render'() {
      return { left_out: await (await deps.credentials()).render() }
    },
    ...createGitCalls(deps.git),
    ...execCalls(deps.terminals),
    ...historyCalls(deps.history),
    ...createRestoreCalls(deps.restores),
    async 'queue.look'() {
      deps.queue.report()
      return { ok: true }
    },
    'skills.list': async () => (await deps.skills()).list(),
    'skills.install': async (message) =>
      (await deps.skills()).install({
        uploadId: text(message, 'upload_id'),
        offset: count(message, 'offset'),
        bytes: Buffer.from(text(message, 'data_base64'), 'base64'),
        manifest: isObject(message.manifest) ? manifestOf(message.manifest) : null,
      }),
    'skills.remove': async (message) =>
      (await deps.skills()).remove(listAt(message, 'names').filter((name) => typeof name === 'string')),
    'skills.settle': async (message) =>
      (await deps.skills()).settle(listAt(message, 'skills').map(settledOf)),
  }
  return async (t, message) => {
    if (isCall(handlers, t)) return await handlers[t](message)
    throw new LinkFault('unknown_message', `There is no message "${t}".`)
  }
}

type ExecCall = Extract<keyof PlatformCalls, `exec.${string}`>

function execCalls(terminals: CallDeps['terminals']): Pick<Handlers, ExecCall> {
  const id = (message: Json) => text(message, 'terminal_id')
  const size = (message: Json) => ({ cols: count(message, 'cols'), rows: count(message, 'rows') })
  return {
    'exec.open': async (message) => (await terminals()).open(id(message), size(message)),
    'exec.data': async (message) =>
      (await terminals()).write(
        id(message),
        count(message, 'offset'),
        Buffer.from(text(message, 'data_base64'), 'base64'),
      ),
    'exec.read': async (message) => (await terminals()).read(id(message), count(message, 'offset')),
    'exec.resize': async (message) => (await terminals()).resize(id(message), size(message)),
    'exec.close': async (message) => (await terminals()).close(id(message)),
  }
}

type TransferCall = Extract<keyof PlatformCalls, `fs.${'export' | 'import' | 'transfer'}_${string}`>

function transferCalls(transfers: CallDeps['transfers']): Pick<Handlers, TransferCall> {
  const handle = (message: Json) => text(message, 'handle')
  return {
    'fs.export_open': async (message) => (await transfers()).openExport(message.with_credentials === true),
    'fs.export_read': async (message) => (await transfers()).read(handle(message), count(message, 'offset')),
    'fs.import_open': async () => (await transfers()).openImport(),
    async 'fs.import_write'(message) {
      const bytes = Buffer.from(text(message, 'data_base64'), 'base64')
      await (await transfers()).write(handle(message), count(message, 'offset'), bytes)
      return { ok: true }
    },
    async 'fs.import_commit'(message) {
      await (await transfers()).commit(handle(message))
      return { ok: true }
    },
    async 'fs.transfer_close'(message) {
      ;(await transfers()).close(handle(message))
      return { ok: true }
    },
  }
}

type HistoryCall = Exclude<Extract<keyof PlatformCalls, `history.${string}`>, `history.restore.${string}`>

function historyCalls(history: CallDeps['history']): Pick<Handlers, HistoryCall> {
  const handle = (message: Json) => text(message, 'handle')
  const places = (message: Json) => listAt(message, 'at').filter((at) => typeof at === 'number')
  return {
    'history.scan': async (message) =>
      (await history()).scan(
        rulesOf(objectAt(message, 'rules')),
        listAt(message, 'bases').filter((base) => typeof base === 'string'),
        message.full === true,
        numberAt(message, 'untouched_since'),
      ),
    'history.page': async (message) => (await history()).page(handle(message), count(message, 'offset')),
    'history.digest': async (message) => (await history()).digest(handle(message), places(message)),
    'history.read': async (message) =>
      (await history()).read(handle(message), places(message), count(message, 'offset')),
    async 'history.commit'(message) {
      await (await history()).commit(handle(message), text(message, 'record'))
      return { ok: true }
    },
    async 'history.close'(message) {
      await (await history()).close(handle(message))
      return { ok: true }
    },
  }
}

function rulesOf(message: Json): HistoryRules {
  const rules = {
    patterns: listAt(message, 'patterns').filter((pattern) => typeof pattern === 'string'),
    max_file_bytes: count(message, 'max_file_bytes'),
  }
  const fault = historyRulesFault(rules)
  if (fault) throw new LinkFault('invalid_message', fault)
  return rules
}

/** Missing fields get defaults with which the agent can keep working. */
export function settingsOf(settings: Json): AgentSettings {
  const mode = objectAt(settings, 'read_only')
  const patterns = (key: string) => listAt(mode, key).filter((item) => typeof item === 'string')
  return {
    agent_name: textAt(settings, 'agent_name') ?? '',
    read_only: {
      enabled: mode.enabled === true,
      blocked_patterns: patterns('blocked_patterns'),
      allowed_patterns: patterns('allowed_patterns'),
    },
    parallel_limit: Math.max(1, numberAt(settings, 'parallel_limit') ?? 1),
    model: textAt(settings, 'model'),
    chat_idle_seconds: numberAt(settings, 'chat_idle_seconds') ?? 600,
    stall_seconds: numberAt(settings, 'stall_seconds') ?? 900,
    disk_seconds: numberAt(settings, 'disk_seconds') ?? 60,
    way_out: wayOutOf(settings.way_out),
  }
}

function wayOutOf(value: unknown): AgentSettings['way_out'] {
  if (!isObject(value)) return null
  const [user, ticket] = [textAt(value, 'user'), textAt(value, 'ticket')]
  return user && ticket ? { user, ticket, authority: textAt(value, 'authority') } : null
}

function isCall(handlers: Handlers, t: string): t is keyof Handlers {
  return isObject(handlers) && Object.hasOwn(handlers, t)
}

function range(message: Json): { offset: number; length: number } {
  return { offset: count(message, 'offset'), length: count(message, 'length') }
}

function text(message: Json, key: string): string {
  return textAt(message, key) ?? invalid(key)
}

function number(message: Json, key: string): number {
  return numberAt(message, key) ?? invalid(key)
}

function count(message: Json, key: string): number {
  const value = number(message, key)
  return Number.isInteger(value) && value >= 0 ? value : invalid(key)
}

function invalid(key: string): never {
  throw new LinkFault('invalid_message', `The field "${key}" is missing or invalid.`)
}
