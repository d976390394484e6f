import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startGitServer } from '@roost/test-support/git/index'
import { createFakeClock } from '../../../../agent/src/kit/fake-clock.ts'
import { manifestOf } from '../../../../agent/src/skills/manifest.ts'
import { createSkills } from '../../../../agent/src/skills/skills.ts'
import { createPaths } from '../../../../agent/src/workspace/paths.ts'
import { agentStore } from '../../agents/records/index.ts'
import { createShared, openAgents } from '../../agents/test/world.ts'
import { createLeases } from '../../foundation/leases/index.ts'
import { openSettings } from '../../foundation/settings/index.ts'
import type { FakeAnswers } from '../../ports/agent-link/fake.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { type BinaryGitOptions, createGit } from '../../ports/git/binary.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { createSkillsArea, type SkillsArea } from '../area.ts'
import type { DefaultSource } from '../sources/index.ts'

export type SkillsWorld = Awaited<ReturnType<typeof openSkills>>

const bundledFolder = resolve(import.meta.dirname, '../../../skills')
const noKeys = { anthropic: null, google: null, openai: null, github: null, voice: null }

/** The skills area with a real git host, and agents whose workspaces are real folders. */
export async function openSkills(
  db: Db & AsyncDisposable,
  {
    defaultSource = null,
    bounds,
  }: {
    /** Or created from the address of the git host. */
    defaultSource?: DefaultSource | ((host: string) => DefaultSource)
    bounds?: BinaryGitOptions['bounds']
  } = {},
) {
  const host = await startGitServer()
  const root = mkdtempSync(join(tmpdir(), 'roost-skills-'))
  const shared = createShared()
  const { clock, ephemeral, vault } = shared
  const settings = await openSettings({
    ...{ db, clock, ephemeral, vault, log: silentLog },
    installed: {
      ...{ mail: false, voip: false, paidChat: false, dispatchBreaker: false },
      providerKeys: noKeys,
    },
  })
  const leases = createLeases({ db, clock })
  const { alerts, raised } = createTestAlerts()
  const git = createGit({
    baseUrl: host.url,
    mayBeInner: true,
    folder: join(root, 'git'),
    path: process.env.PATH ?? '',
    bounds,
  })
  const late: { link: AgentLink | null; skills: SkillsArea | null } = { link: null, skills: null }
  const linked = () => late.link ?? assert.fail('too early')
  const link: AgentLink = {
    call: (...request) => linked().call(...request),
    isConnected: (id) => linked().isConnected(id),
    isHere: (id) => linked().isHere(id),
    wake: (id) => linked().wake(id),
    disconnect: (id) => linked().disconnect(id),
  }
  const world = await openAgents(db, {
    shared,
    needs: {
      skillsBlock: async (id) => (await late.skills?.block(id)) ?? null,
      skillsAtStart: async (id, since) => (await late.skills?.atStart(id, since)) ?? null,
    },
    routes(area) {
      const skills = createSkillsArea({
        ...{ db, clock, leases, settings, git, link, bundledFolder },
        defaultSource: typeof defaultSource === 'function' ? defaultSource(host.url) : defaultSource,
        log: silentLog,
        events: { append: (...event) => world.events.append(...event), on: () => () => {} },
        agents: area,
        alerts,
      })
      late.skills = skills
      return skills.routes
    },
  })
  late.link = world.link
  const skills = late.skills ?? assert.fail('the routes were not created')
  await skills.open()
  const owner = await world.person('creator')

  /** A running agent with a workspace; `home` is its folder. */
  async function agent(name: string) {
    const reply = await world.request(owner.key, 'POST', '/api/agents', { name })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    const { id } = await world.row(name)
    const home = join(root, name)
    mkdirSync(home)
    const paths = await createPaths(home)
    const own = createSkills({
      paths,
      runtime: 'claude-code',
      clock: createFakeClock(),
      parts: join(root, `${name}-parts`),
      environment: async () => ({ PATH: process.env.PATH ?? '' }),
    })
    const answers: FakeAnswers = {
      'skills.list': () => own.list(),
      'skills.install': ({ upload_id: uploadId, offset, data_base64, manifest }) =>
        own.install({
          uploadId,
          offset,
          bytes: Buffer.from(data_base64, 'base64'),
          manifest: manifest && manifestOf(manifest),
        }),
      'skills.remove': ({ names }) => own.remove(names),
      'skills.settle': (request) => own.settle(request.skills),
    }
    world.link.link(id, answers)
    const at = (...path: string[]) => join(home, '.claude', 'skills', ...path)
    return {
      id,
      name,
      home,
      answers,
      has: (...path: string[]) => existsSync(at(...path)),
      read: (...path: string[]) => readFileSync(at(...path), 'utf8'),
      manifest: (skill: string) => JSON.parse(readFileSync(at(skill, '.roost-skill.json'), 'utf8')),
      at,
      async stop() {
        await db.atomically(async (tx) => {
          await agentStore(tx).update(id, { status: 'stopped', desired: 'stopped' })
          world.area.agentRecords.changed(tx, id)
        })
        world.link.unlink(id)
      },
      greet(answering: FakeAnswers = answers) {
        world.link.link(id, answering)
        skills.linkConnected(id)
      },
      /** Starts its container again. */
      async rise() {
        await db.atomically(async (tx) => {
          await agentStore(tx).update(id, { status: 'running', desired: 'running' })
          world.area.agentRecords.changed(tx, id)
        })
      },
      /** Starts it again and connects it. */
      async start() {
        await this.rise()
        this.greet()
        await skills.delivery.settled()
      },
      rows: () => skills.assignments.of(id),
      assign: (skill: string) => skills.assignments.assign({ id, name }, skill, 'ann'),
      unassign: (skill: string) => skills.assignments.unassign({ id, name }, skill),
      replace: (names: string[]) => skills.assignments.replace({ id, name }, names, 'ann'),
    }
  }

  async function source(repository: string, over: object = {}) {
    const request = {
      url: `${host.url}/${repository}`,
      ref: 'main',
      ref_type: 'branch',
      enabled: true,
      priority: 100,
    }
    // Distinct creation times, because they decide the order.
    await clock.advance(1)
    return skills.sources.create({ name: repository, ...request, ...over } as never, 'ann')
  }

  return {
    ...world,
    host,
    skills,
    settings,
    leases,
    /** Alerts raised so far. */
    alerts: () => raised.map(({ kind, agentId }) => ({ kind, agentId })),
    owner,
    agent,
    source,
    /** Adds a source and reads it. */
    async sourced(repository: string, over: object = {}) {
      const made = await source(repository, over)
      await skills.library.syncSource(made.id, 'test')
      return made
    },
    names: async () => (await skills.library.list()).map(({ name }) => name),
    copyBundled: (target: string) => cpSync(bundledFolder, target, { recursive: true }),
    async [Symbol.asyncDispose]() {
      // A failed test may leave an unanswered call, which this would wait for.
      world.link.unlinkAll()
      await skills.close()
      await settings.close()
      await world[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** A skill's instruction file. */
export const instruction = (description: string, more = '') =>
  `---\ndescription: ${description}\n${more}---\n# Do it\n`
