/**
 * Everybody who can make an agent run turns attacks everybody else, from inside the agent and at the same time,
 * through the real CLIs.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { eventually, type PlatformOptions } from '../acceptance/platform.ts'
import { stateOf } from '../acceptance/steps.ts'
import { type EverybodysScene, openEveryone, type Person } from './everyone.ts'
import {
  abilities,
  attemptsOf,
  encoded,
  findKeys,
  findMarks,
  type Inhabitant,
  meet,
  onPerson,
  program,
  scriptOf,
  successes,
  workspace,
} from './inside.ts'
import { type Attacker, openScene, succeed } from './people.ts'

/** What npm needs to install the CLIs of sandboxes from here. */
const forNpm = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value && /^(npm_config_|(https?|no)_proxy$|node_extra_ca_certs$)/i.test(name) ? [[name, value]] : [],
  ),
)
const inSandbox = { env: { ...forNpm, ROOST_CONTAINERS_URL: 'sandbox:' } }
const isRoot = process.getuid?.() === 0

describe('docker', () => attackFromInside('docker', ['claude-code', 'gemini-cli', 'codex'], {}))

// Sandboxes run the same program; codex differs there, because it cannot build a sandbox of its own.
describe('sandbox', { skip: isRoot ? false : 'only root can give sandboxes several users' }, () =>
  attackFromInside('sandbox', ['claude-code', 'codex'], inSandbox),
)

test('a sandbox of an ordinary user has one user for everybody, and says so', {
  skip: isRoot ? false : 'needs root to become an ordinary user',
}, async () => {
  const agent = 'att-all-ordinary'
  await using scene = await openScene(agent, { ...inSandbox, user: { uid: 61_234, gid: 61_234 } })
  const idOf = async (attacker: Attacker) => {
    const headers = { accept: 'application/json' }
    const body = { message: '[[tool:Bash:echo "uid=$(id -u)"]]' }
    const path = `/api/agents/${agent}/chat`
    const reply = await scene.platform.request('POST', path, body, { token: attacker.token, headers })
    return /uid=\d+/.exec(reply.text)?.[0] ?? assert.fail(reply.text)
  }
  assert.equal(await idOf(scene.sharer), await idOf(scene.owner))
  const { isolation } = await succeed(scene.call(scene.owner, 'GET', ''))
  assert.match(isolation.weaker.join('\n'), /people who share it are not kept apart/)
})

function attackFromInside(engine: string, runtimes: string[], options: PlatformOptions) {
  const agents = Object.fromEntries(
    runtimes.map((runtime) => [
      `att-all-${engine}-${runtime}`,
      {
        ...(runtime === 'codex' ? { template: 'codex-assistant' } : { runtime }),
        // Room for the runtimes of all persons at the same time.
        resources: { memory: '12g' },
      },
    ]),
  )
  const names = Object.keys(agents)
  let scene: EverybodysScene
  /** Per agent: who lives there. */
  const inhabitants = new Map<string, Inhabitant[]>()
  /** Run keys that turns found, with the finder. */
  const keys: { agent: string; finder: string; key: string }[] = []

  before(async () => {
    scene = await openEveryone(agents, options)
    // One agent after another, here and below: eight runtimes at the same time are enough for two processors.
    for (const agent of names) await settle(agent)
  })
  after(() => scene?.[Symbol.asyncDispose]())

  const run = (person: Person, agent: string, script: string, before = '') =>
    person.turn(agent, `${before} [[tool:Bash:${encoded(script)}]]`)

  /** Everybody leaves a note at home, and the owner fills the workspace. */
  async function settle(agent: string): Promise<void> {
    const found: Inhabitant[] = []
    const moveIn = async (person: Person) => {
      const mark = `MARK-${randomBytes(8).toString('hex')}`
      const script = `h=$HOME; [ $(id -u) = 1000 ] && h=/var/lib/roost/owner
echo ${mark} > $h/note; echo "home=$h uid=$(id -u)"
${makes[person.name] ?? ''}`
      const text = await run(person, agent, script, `${mark} is my secret.`)
      const [, home = '', uid = ''] =
        /home=(\S+) uid=(\d+)/.exec(text) ?? assert.fail(`${person.name}: ${text}`)
      found.push({ name: person.name, uid: Number(uid), home, mark })
    }
    const [owner = assert.fail(), ...others] = scene.everyone
    await moveIn(owner)
    await Promise.all(others.map(moveIn))
    inhabitants.set(agent, found)
  }

  test('everybody has a user and a home of their own', () => {
    for (const [agent, found] of inhabitants) {
      assert.equal(new Set(found.map(({ uid }) => uid)).size, scene.everyone.length, agent)
      assert.equal(new Set(found.map(({ home }) => home)).size, scene.everyone.length, agent)
    }
  })

  test('nobody reaches the home, processes, keys or words of somebody else while all are there', async () => {
    const count = scene.everyone.length
    const failures: string[] = []
    async function attack(person: Person, agent: string): Promise<void> {
      const all = inhabitants.get(agent) ?? []
      const own = all.find(({ name }) => name === person.name) ?? assert.fail()
      const others = all.filter((each) => each !== own)
      const attempts = [...onPerson(own), ...others.flatMap(onPerson), ...attemptsOf(person)]
      const allowed = [...onPerson(own), ...abilities(person)].map(([name]) => name)
      const marks = others.map(({ mark }) => mark)
      const presence = [`${program} && echo found-program`]
      for (const { uid } of all) presence.push(`pgrep -u ${uid} >/dev/null && echo found-${uid}`)
      const more = [...presence, findMarks(marks), findKeys, meet(count)].join('\n')
      const message = `[[hold:${agent}]] [[tool:Bash:${scriptOf(attempts, more)}]]`
      const text = await person.turn(agent, message)
      const report = (what: string) => failures.push(`${agent}, ${person.name}: ${what}`)
      if (!text.includes('met')) report(`did not meet the others: ${text}`)
      if (!text.includes('found-program')) report('saw no program')
      for (const { uid, name } of all) if (!text.includes(`found-${uid}`)) report(`saw no process of ${name}`)
      const succeeded = successes(attempts, text)
      for (const name of succeeded) if (!allowed.includes(name)) report(name)
      for (const name of allowed) if (!succeeded.includes(name)) report(`cannot do what is allowed: ${name}`)
      for (const [line] of text.matchAll(/^.*mark .*$/gm)) report(line)
      for (const [, reversed = ''] of text.matchAll(/key (\S+)/g))
        keys.push({ agent, finder: person.name, key: reversed.split('').reverse().join('') })
    }
    const held = async () =>
      scene.platform.model.requests.filter(
        ({ ended, kind, directives }) => kind === 'main' && ended === 'open' && directives.includes('hold'),
      ).length
    for (const agent of names) {
      const all = Promise.all(scene.everyone.map((person) => attack(person, agent)))
      let isOver = false
      all.catch(() => (isOver = true))
      // Shorter than the wait for a response, so that the state is read before the requests fail.
      await eventually(held, (open) => isOver || open === count, 240_000).catch(async (error: Error) =>
        assert.fail(`${error.message}\n${await stateOf(scene.platform, agent)}`),
      )
      scene.platform.model.release(agent)
      await all
    }
    assert.deepEqual(failures, [])
  })

  test('a turn finds no key but its own, which ends with the turn', async () => {
    for (const agent of names) {
      const found = keys.filter((each) => each.agent === agent)
      const finders = found.map(({ finder }) => finder).sort()
      assert.deepEqual(finders, scene.everyone.map(({ name }) => name).sort(), agent)
      assert.equal(new Set(found.map(({ key }) => key)).size, found.length, agent)
      for (const { finder, key } of found) {
        assert.match(key, /^svc_mcp_run_/, `${agent}, ${finder}`)
        const { status, json } = await scene.platform.request('GET', `/api/agents/${agent}`, undefined, {
          token: key,
        })
        assert.deepEqual([finder, status, json.error], [finder, 401, 'run_key_ended'])
      }
    }
  })

  test('strangers have as much of the workspace as the owner allows, and no credentials', async () => {
    const failures: string[] = []
    for (const access of ['none', 'write'] as const) {
      const body = { access }
      for (const agent of names)
        await succeed(scene.platform.request('PUT', `/api/agents/${agent}/strangers`, body))
      const attempts = attemptsOf({ access })
      const allowed = abilities({ access, credentials: false }).map(([name]) => name)
      const attack = async (person: Person, agent: string) => {
        const text = await person.turn(agent, `[[tool:Bash:${scriptOf(attempts, 'echo tried')}]]`)
        const found = text.includes('tried') ? successes(attempts, text) : [text]
        if (found.join() !== allowed.join()) failures.push(`${agent}, ${person.name}, ${access}: ${found}`)
      }
      const strangers = scene.everyone.filter(({ isStranger }) => isStranger)
      await Promise.all(names.flatMap((agent) => strangers.map((person) => attack(person, agent))))
    }
    assert.deepEqual(failures, [])
  })

  test('a key that was copied during a turn ends with the share or the public link', async () => {
    const [agent = assert.fail()] = names
    const [owner = assert.fail(), ...others] = scene.everyone
    const people = others.filter(({ name, end }) => end && name !== 'other visitor')
    const leak = `printenv ROOST_MCP_KEY | rev > /tmp/part-$(id -u); mv /tmp/part-$(id -u) /tmp/leaked-$(id -u)
while sleep 0.3; do :; done`
    const turns = people.map((person) => run(person, agent, leak).catch(() => 'refused'))
    const leaked = await eventually(
      async () =>
        (await run(owner, agent, "cat /tmp/leaked-* | sed 's/^/key /'")).matchAll(/key (\S+)/g).toArray(),
      (found) => found.length === people.length,
    )
    const copied = leaked.map(([, reversed = '']) => reversed.split('').reverse().join(''))
    const use = async (token: string) => {
      const { status, json } = await scene.platform.request('GET', `/api/agents/${agent}`, undefined, {
        token,
      })
      return status === 200 ? 'works' : json.error
    }
    assert.deepEqual(new Set(await Promise.all(copied.map(use))), new Set(['works']))
    for (const person of people) await person.end?.(agent)
    assert.deepEqual(new Set(await Promise.all(copied.map(use))), new Set(['run_key_ended']))
    await Promise.all(turns)
    for (const person of people) await assert.rejects(person.turn(agent, 'again'), person.name)
  })
}

/** What people make in the workspace when they move in. */
const makes: Record<string, string> = {
  owner: `cd ${workspace}; mkdir -p src credentials; echo shared > src/shared; echo TOKEN=x > .env
echo k > credentials/token; echo k > deploy.pem; git init -q; [ -e .mcp.json ] || echo '{"mcpServers":{}}' > .mcp.json`,
  sharer: `cd ${workspace}; echo k > made-by-a-writer.pem`,
}
