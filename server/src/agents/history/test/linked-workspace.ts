import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHistory } from '../../../../../agent/src/history/history.ts'
import { createRestores } from '../../../../../agent/src/history/restore.ts'
import { createRestoreCalls } from '../../../../../agent/src/history/restore-calls.ts'
import { createScanner } from '../../../../../agent/src/history/scan.ts'
import { createWriters } from '../../../../../agent/src/history/writers.ts'
import { createIdentities, readIdentityFacts } from '../../../../../agent/src/processes/identity.ts'
import type { FakeAgentLink, FakeAnswers } from '../../../ports/agent-link/fake.ts'

/**
 * A workspace behind the history of the real agent program: a temporary folder, or `home`, of which a new program knows no
 * record.
 */
export function linkWorkspace(
  link: FakeAgentLink,
  agentId: string,
  over: FakeAnswers = {},
  { home: given }: { home?: string } = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'roost-linked-workspace-'))
  const home = given ?? join(root, 'home')
  mkdirSync(home, { recursive: true })
  const writers = createWriters(
    { canSwitch: async () => true },
    () => [],
    () => [],
  )
  const index = join(root, 'index')
  const identities = createIdentities(readIdentityFacts(statSync(home)))
  const history = createHistory({
    scanner: createScanner({
      home,
      file: index,
      identities,
      // Later than every change, so that no entry counts as changed in the tick of the scan.
      clock: { now: () => Date.now() + 60_000, after: () => () => {} },
    }),
    writers,
    mayLogIn: async () => false,
    clock: { after: () => () => {} },
  })
  const restores = createRestores({
    ...{ home, index, identities, journal: join(root, 'restore', 'journal') },
    clock: { elapsed: () => performance.now(), after: () => () => {} },
    log: { info() {}, warn() {} },
    // As the agent's program counts every call of a restore.
    async onRestore() {
      writers.began()
      writers.ended()
    },
    onChanged() {},
  })
  const answers: FakeAnswers = {
    ...(createRestoreCalls(async () => restores) as unknown as FakeAnswers),
    'history.scan': ({ rules, bases, full, untouched_since }) =>
      history.scan(rules, bases, full, untouched_since),
    'history.page': async ({ handle, offset }) => history.page(handle, offset),
    'history.digest': ({ handle, at }) => history.digest(handle, at),
    'history.read': ({ handle, at, offset }) => history.read(handle, at, offset),
    'history.commit': async ({ handle, record }) => {
      await history.commit(handle, record)
      return { ok: true }
    },
    'history.close': async ({ handle }) => {
      await history.close(handle)
      return { ok: true }
    },
  }
  const connect = () => link.link(agentId, { ...answers, ...over })
  connect()
  return {
    home,
    answers,
    /** Again, after the link was cut. */
    connect,
    /** Something may have written. */
    wrote() {
      writers.began()
      writers.ended()
    },
    async [Symbol.asyncDispose]() {
      link.unlink(agentId)
      await history.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
