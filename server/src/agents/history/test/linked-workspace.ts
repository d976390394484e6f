import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHistory } from '../../../../../agent/src/history/history.ts'
import { createScanner } from '../../../../../agent/src/history/scan.ts'
import { createWriters } from '../../../../../agent/src/history/writers.ts'
import { createIdentities, readIdentityFacts } from '../../../../../agent/src/processes/identity.ts'
import type { FakeAgentLink, FakeAnswers } from '../../../ports/agent-link/fake.ts'

/** A workspace in a temporary folder, behind the history of the real agent program. */
export function linkWorkspace(link: FakeAgentLink, agentId: string, over: FakeAnswers = {}) {
  const root = mkdtempSync(join(tmpdir(), 'roost-linked-workspace-'))
  const home = join(root, 'home')
  mkdirSync(home)
  const writers = createWriters({ canSwitch: async () => true }, () => [])
  const history = createHistory({
    scanner: createScanner({
      home,
      file: join(root, 'index'),
      identities: createIdentities(readIdentityFacts(statSync(home))),
      // Later than every change, so that no entry counts as changed in the tick of the scan.
      clock: { now: () => Date.now() + 60_000 },
    }),
    writers,
    mayLogIn: async () => false,
    clock: { after: () => () => {} },
  })
  const answers: FakeAnswers = {
    'history.scan': ({ rules, bases }) => history.scan(rules, bases),
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
  link.link(agentId, { ...answers, ...over })
  return {
    home,
    answers,
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
