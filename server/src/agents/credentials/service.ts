import type {
  CredentialRequirements,
  CredentialsStatus,
  InjectCredentials,
} from '@roost/contracts/agents/credentials'
import type { CredentialsInjection } from '@roost/contracts/agents/lifecycle'
import {
  bundleFile,
  type CredentialFile,
  type CredentialsStatusAnswer,
  maxCredentialBytes,
  mcpTemplateFile,
} from '@roost/contracts/link/credentials'
import type { Vault } from '../../foundation/vault/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { Fault, invalidField, isFault } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import type { Log } from '../../ports/log.ts'
import { requireDiskRoom } from '../disk/index.ts'
import type { BoundCredentials } from '../egress/index.ts'
import type { Agent } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { parseTemplate, type Templates } from '../templates/index.ts'
import { bundleBytes, bundled, createAgentFiles } from './agent-files.ts'
import { openBundle, sealBundle } from './bundle.ts'
import { createKnownSecrets, type KnownSecrets, type KnownSecretsDeps } from './known-secrets.ts'
import { type Declared, requirementsOf } from './requirements.ts'
import { type CredentialBytes, filesOf } from './rules.ts'

export type Injection = {
  credentials_injection: CredentialsInjection
  credentials_result: Record<string, unknown> | null
}

export type Credentials = {
  status(agent: Agent, signal: AbortSignal): Promise<CredentialsStatus>
  /** Returns the written paths. */
  inject(agent: Agent, body: InjectCredentials, signal: AbortSignal): Promise<string[]>
  /** Returns the number of files in the bundle. */
  exportBundle(agent: Agent, signal: AbortSignal): Promise<number>
  importBundle(agent: Agent, signal: AbortSignal): Promise<string[]>
  requirements(agent: Agent, signal: AbortSignal): Promise<CredentialRequirements>
  /** Runs after the container started, before it counts as running. Never throws. */
  atStart(agent: Agent): Promise<Injection>
  /**
   * After the agent connected: imports the bundle of a workspace without a `.env`, and learns its secrets.
   */
  connected(agent: Agent): Promise<void>
  /** Writes placeholders for bound credentials into the `.env` of a running agent. */
  settleEnv(agent: Agent): Promise<void>
  secrets: KnownSecrets
}

export type CredentialsDeps = Omit<KnownSecretsDeps, 'vault'> & {
  vault: Pick<Vault, 'seal' | 'open' | 'keyId' | 'sealBytes' | 'openBytes' | 'retired'>
  ask: CallAgent
  log: Pick<Log, 'warn'>
  templates: Pick<Templates, 'resolve'>
  /** The owner's token for private repositories. */
  gitTokenOf(userId: string): Promise<Secret | null>
  /** Bound credentials, whose values stay in the platform. */
  boundCredentials: Pick<BoundCredentials, 'store' | 'settle'>
  /** Throws `rate_limited`. */
  limitCredentials(agentId: string): Promise<void>
}

/** After this time the start reports a failure; the agent still uses its own files. */
const startWaitMs = 20_000

export function createCredentials(deps: CredentialsDeps): Credentials {
  const { ask, clock, vault, log } = deps
  const files = createAgentFiles({ ask })
  const secrets = createKnownSecrets(deps)

  async function readStatus(agent: Agent, signal?: AbortSignal): Promise<CredentialsStatusAnswer> {
    return ask(agent, 'credentials.status', {}, signal).catch((cause: unknown) => {
      if (!(cause instanceof LinkFault)) throw cause
      throw new Fault('agent_unresponsive', 'The agent does not report its credentials.', {}, { cause })
    })
  }

  async function readAll(agent: Agent, found: readonly CredentialFile[], signal?: AbortSignal) {
    const all = []
    for (const { path, size } of found) all.push({ path, bytes: await files.read(agent, path, size, signal) })
    return all
  }

  /** The files to write into the workspace, with placeholders for values that stay in the platform. */
  async function withPlaceholders(
    agent: Agent,
    given: readonly CredentialBytes[],
    hosts: Readonly<Record<string, readonly string[]>>,
  ): Promise<CredentialBytes[]> {
    const env = given.find(({ path }) => path === '.env')
    if (!env) return [...given]
    const before = env.bytes.toString('utf8')
    const after = await deps.boundCredentials.store(agent.id, before, hosts)
    return given.map((file) =>
      file === env && after !== before ? { ...file, bytes: Buffer.from(after) } : file,
    )
  }

  async function importNow(
    agent: Agent,
    found: readonly CredentialFile[],
    read: () => Promise<Buffer | null>,
    signal?: AbortSignal,
  ) {
    const bundle = found.find(({ path }) => path === bundleFile)
    if (!bundle) throw new Fault('bundle_missing')
    if (bundle.size > bundleBytes) throw tooLarge()
    const text = await read().catch((cause: unknown) => {
      throw isFault(cause, 'file_too_large') ? tooLarge() : cause
    })
    if (text === null) return []
    const contents = openBundle(text.toString('utf8'), vault)
    await secrets.learn(agent.id, contents)
    if (contents.length > 0) await files.write(agent, await withPlaceholders(agent, contents, {}), signal)
    return contents.map(({ path }) => path)
  }

  /** What the platform writes counts as the owner's, so it must not copy what somebody else wrote. */
  async function settleEnv(agent: Agent, found: readonly CredentialFile[]): Promise<boolean> {
    const size = found.find(({ path }) => path === '.env')?.size ?? 0
    const text = size > 0 ? await files.readOwners(agent, '.env', maxCredentialBytes) : Buffer.of()
    if (text === null) return false
    const before = text.toString('utf8')
    const after = await deps.boundCredentials.settle(agent.id, before)
    if (after === before) return false
    await files.write(agent, [{ path: '.env', bytes: Buffer.from(after) }])
    return true
  }

  async function updateFromWorkspace(
    agent: Agent,
  ): Promise<{ answer: CredentialsStatusAnswer; imported: string[] }> {
    let answer = await readStatus(agent)
    const has = (path: string) => answer.files.some((file) => file.path === path && file.size > 0)
    const readOwners = () => files.readOwners(agent, bundleFile, bundleBytes)
    const imported = has(bundleFile) && !has('.env') ? await importNow(agent, answer.files, readOwners) : []
    if (imported.length > 0) answer = await readStatus(agent)
    if (await settleEnv(agent, answer.files)) answer = await readStatus(agent)
    if (answer.variables.length > 0 || credentialFiles(answer).length > 0) {
      await secrets.learn(agent.id, await readAll(agent, bundled(answer.files)))
    }
    return { answer, imported }
  }

  async function declaredRequirements(agent: Agent, signal: AbortSignal): Promise<Declared> {
    if (agent.status === 'running') {
      const live = await ask(agent, 'info', {}, signal).catch(() => null)
      if (live?.template_yaml) {
        try {
          return { source: 'live_workspace', file: parseTemplate(live.template_yaml), required: null }
        } catch (error) {
          if (!isFault(error)) throw error
          return { source: 'none', fault: `template.yaml of the workspace: ${error.message}` }
        }
      }
    }
    if (agent.template === null) return { source: 'none', fault: null }
    try {
      const { file, required } = await deps.templates.resolve(agent.template, () =>
        deps.gitTokenOf(agent.owner_id),
      )
      return { source: 'catalog', file, required }
    } catch (error) {
      if (!isFault(error)) throw error
      return { source: 'none', fault: error.message }
    }
  }

  return {
    secrets,

    async status(agent, signal) {
      const answer = agent.status === 'running' ? await readStatus(agent, signal) : null
      return statusOf(agent.name, answer)
    },

    async inject(agent, body, signal) {
      const requestedFiles = filesOf(body)
      await deps.limitCredentials(agent.id)
      requireRunning(agent)
      requireDiskRoom(agent)
      await secrets.learn(agent.id, requestedFiles)
      const hosts = body.hosts ?? {}
      if (Object.keys(hosts).length > 0 && !requestedFiles.some(({ path }) => path === '.env'))
        throw invalidField(['hosts'], 'requires a .env in files')
      await files.write(agent, await withPlaceholders(agent, requestedFiles, hosts), signal)
      return requestedFiles.map(({ path }) => path)
    },

    async exportBundle(agent, signal) {
      await deps.limitCredentials(agent.id)
      requireRunning(agent)
      const { files: found } = await readStatus(agent, signal)
      const all = found.filter(({ path }) => path !== bundleFile && path !== mcpTemplateFile)
      const exported = bundled(found)
      if (exported.length < all.length) {
        throw new Fault('file_too_large', 'A bundle contains at most 50 files of 1 MiB, and 8 MiB together.')
      }
      const text = sealBundle(await readAll(agent, exported, signal), timestamp(clock.now()), vault)
      await files.write(agent, [{ path: bundleFile, bytes: Buffer.from(text) }], signal)
      return exported.length
    },

    async importBundle(agent, signal) {
      await deps.limitCredentials(agent.id)
      requireRunning(agent)
      requireDiskRoom(agent)
      const { files: found } = await readStatus(agent, signal)
      return importNow(agent, found, () => files.read(agent, bundleFile, bundleBytes, signal), signal)
    },

    async requirements(agent, signal) {
      // Concurrently, so that the wait for an unresponsive agent happens only once.
      const [live, declaration] = await Promise.all([
        agent.status === 'running' ? readStatus(agent, signal).catch(() => null) : null,
        declaredRequirements(agent, signal),
      ])
      return requirementsOf(agent.name, declaration, live)
    },

    async atStart(agent) {
      // Agents that never had credentials start without waiting for their program.
      if (!(await secrets.hasAny(agent.id))) return nothingInjected
      const started = { ...agent, status: 'running' as const }
      try {
        const { answer, imported } = await Promise.race([
          updateFromWorkspace(started),
          rejectAfter(clock, startWaitMs),
        ])
        const { variables, left_out } = answer
        const count = variables.length + credentialFiles(answer).length
        if (count === 0) return nothingInjected
        const result = { credential_count: count, files_imported: imported, left_out_servers: left_out }
        return { credentials_injection: 'success', credentials_result: result }
      } catch (error) {
        log.warn({ err: error, agent: agent.name }, 'could not update the credentials of a started agent')
        const reason = error instanceof Fault ? error.code : 'agent_unresponsive'
        return { credentials_injection: 'failed', credentials_result: { error: reason } }
      }
    },

    async settleEnv(agent) {
      const running = { ...agent, status: 'running' as const }
      await settleEnv(running, (await readStatus(running)).files)
    },

    connected: async (agent) => void (await updateFromWorkspace({ ...agent, status: 'running' })),
  }
}

const nothingInjected: Injection = { credentials_injection: 'nothing_to_inject', credentials_result: null }

async function rejectAfter(clock: CredentialsDeps['clock'], ms: number): Promise<never> {
  await clock.wait(ms)
  throw new Fault('agent_unresponsive')
}

function tooLarge(): Fault {
  return new Fault('bundle_corrupt', 'The credential bundle exceeds the maximum size.')
}

function requireRunning({ name, status }: Agent): void {
  if (status !== 'running') throw new Fault('agent_stopped', `Agent ${name} is not running.`)
}

/** Credential files besides those that every workspace has. */
function credentialFiles({ files }: CredentialsStatusAnswer): string[] {
  const common = ['.env', '.mcp.json', mcpTemplateFile, bundleFile, '.env.example']
  return files.map(({ path }) => path).filter((path) => !common.includes(path))
}

function statusOf(agent_name: string, answer: CredentialsStatusAnswer | null): CredentialsStatus {
  const state = (path: string) => {
    const file = answer?.files.find((each) => each.path === path)
    return file ? { exists: true, size: file.size, modified: file.modified } : { exists: false }
  }
  const others = answer ? credentialFiles(answer) : []
  const variables = answer?.variables ?? []
  return {
    agent_name,
    status: answer ? 'running' : 'agent_not_running',
    files: {
      '.env': state('.env'),
      '.mcp.json': state('.mcp.json'),
      '.mcp.json.template': state('.mcp.json.template'),
      '.credentials.enc': state('.credentials.enc'),
    },
    credential_count: variables.length + others.length,
    variables,
    credential_files: others,
    left_out_servers: answer?.left_out ?? [],
  }
}
