/** `compose.scale.yaml`: three API replicas behind Caddy, one killed in the middle of a turn, then all restarted. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ensureBase } from '../../server/src/ports/agent-images/docker/base.ts'
import { buildImage } from '../../server/src/ports/agent-images/docker/build.ts'
import { proxies } from '../../server/src/ports/agent-images/docker/docker.ts'
import { connect } from '../../server/src/ports/containers/docker/connect.ts'
import { openLive } from '../acceptance/live.ts'
import { eventually, type Loose, type Platform } from '../acceptance/platform.ts'
import { answerOf, createAgent, docker, isOver, untilExecution } from '../acceptance/steps.ts'
import { type Stack, startStack } from './stack.ts'

const isMissing = (program: string) => spawnSync('which', [program]).status !== 0
const skip = isMissing('docker-compose') ? 'docker-compose is not installed' : false
const name = 'qa-scaled'
const services = 'roost-test-services'
const replicas = ['api-1', 'api-2', 'api-3']

describe('compose.scale.yaml', { skip }, () => {
  let stack: Stack
  let ports: number[] = []
  // The steps need only the fields that a stack has.
  const platform = () => stack as unknown as Platform

  before(async () => {
    await buildServices()
    stack = await startStack({
      file: 'compose.scale.yaml',
      settings(free) {
        ports = free.slice(0, 3)
        const own = ports.map((port, index) => [`ROOST_API_PORT_${index + 1}`, String(port)])
        const images = ['POSTGRES', 'REDIS', 'CADDY'].map((each) => [`ROOST_${each}_IMAGE`, services])
        return Object.fromEntries([...own, ...images])
      },
    })
  })
  after(async () => {
    await stack?.close()
  })

  test('an agent answers through the proxy, and every replica reaches it', async () => {
    await createAgent(platform(), name, { template: 'local:business-assistant' })
    assert.equal(await answerOf(platform(), name, '[[reply:hello]]'), 'hello')
    for (const port of ports) {
      const direct = { ...platform(), request: requestAt(port) }
      assert.equal(await answerOf(direct, name, `[[reply:over ${port}]]`), `over ${port}`)
    }
  })

  test('an event of one replica reaches the clients of the others', async () => {
    const lives = await Promise.all(
      ports.map(async (port) => {
        const { json } = await requestAt(port)('POST', '/api/ws/ticket')
        return openLive({ url: `http://127.0.0.1:${port}` }, `/ws?ticket=${json.ticket}`)
      }),
    )
    await Promise.all(lives.map((live) => live.next('connected')))
    const [first = 0] = ports
    assert.equal((await requestAt(first)('POST', `/api/agents/${name}/stop`)).status, 200)
    const stopped = (message: Loose) => JSON.stringify(message).includes(name)
    await Promise.all(lives.map((live) => live.next('agent_stopped', stopped)))
    for (const live of lives) live.end()
    assert.equal((await stack.request('POST', `/api/agents/${name}/start`)).status, 200)
  })

  test('one of two schedulers leads', async () => {
    const leases = async (): Promise<number[]> => {
      const { replicas } = (await stack.request('GET', '/api/ops/replicas')).json
      const schedulers = replicas.filter(({ role }: Loose) => role === 'scheduler')
      return schedulers.map((each: Loose) => each.leases.length).toSorted()
    }
    await eventually(leases, ([none, some = 0, ...others]) => none === 0 && some > 0 && others.length === 0)
  })

  test('a replica killed in the middle of a turn loses no run, and a rolling restart fails no request', async () => {
    const [first = 0] = ports
    const task = { message: '[[hold:gate]][[reply:finished]]', async_mode: true }
    const { json: accepted } = await requestAt(first)('POST', `/api/agents/${name}/task`, task)
    const id: string = accepted.execution_id
    await stack.model.waitForRequest(({ ended }) => ended === 'open', { timeoutMs: 120_000 })
    // A stream of the turn over the replica that dies: the connection is cut.
    const stream = await fetch(`http://127.0.0.1:${first}/api/agents/${name}/executions/${id}/stream`, {
      headers: { authorization: `Bearer ${stack.token}` },
    })
    const cut = assert.rejects(stream.text())

    const probe = probeThrough(stack)
    await docker('kill', '--signal', 'KILL', await stack.containerOf('api-1'))
    await cut
    await probe.until(100)
    // The probe has one request at a time, so the kill can cut one.
    const cutByKill = probe.takeFailed()
    assert.ok(cutByKill.length <= 1, String(cutByKill))
    await stack.compose('up', '-d', '--no-deps', 'api-1')
    await stack.untilHealthy('api-1')
    for (const replica of replicas) {
      await stack.compose('up', '-d', '--no-deps', '--force-recreate', replica)
      await stack.untilHealthy(replica)
    }
    await probe.until(100)
    const { failed, count } = await probe.end()
    assert.deepEqual(failed, [], `of ${count} requests`)

    stack.model.release('gate')
    const row = await untilExecution(platform(), name, id, isOver)
    assert.equal(row.status, 'success')
    assert.match(row.response, /finished/)
    const { json } = await stack.request('GET', `/api/agents/${name}/executions`)
    const own = (json.executions ?? json).filter((each: Loose) =>
      String(each.message).includes('[[hold:gate]]'),
    )
    assert.equal(own.length, 1)
  })

  test('an upgrade needs a backup first, which the service `backup` makes, and it can be undone', async () => {
    await stack.compose('stop', ...replicas, 'scheduler-1', 'scheduler-2', 'mcp')
    // The state before a migration, as an earlier version leaves it.
    const migration = '0082-retired-keys'
    await sql('drop table retired_keys')
    for (const table of ['schema_migrations', 'schema_checksums'])
      await sql(`delete from ${table} where name = '${migration}'`)
    const applied = () => sql(`select count(*) from schema_migrations where name = '${migration}'`)
    const withoutPrograms = stack.compose('run', '--rm', '-T', '--no-deps', 'api-1', 'migrate')
    await assert.rejects(
      withoutPrograms,
      /nothing was changed: psql is needed.* `docker-compose run --rm backup migrate`/,
    )
    assert.equal(await applied(), '0')

    assert.match(await stack.backup('migrate'), /^backup of .*: upgrade-\S+\. .*run --rm backup rollback$/m)
    assert.equal(await applied(), '1')
    await sql('create table written_since (id text)')
    assert.match(
      await stack.backup('rollback', '--yes'),
      /^To undo this: docker-compose run --rm backup rollback --to/m,
    )
    assert.equal(await applied(), '0')
    assert.equal(await sql("select count(*) from pg_tables where tablename = 'written_since'"), '0')
  })

  test('an encrypted file of everything is verified, and restores into an empty project', async () => {
    await stack.backup('migrate')
    const file = '/backups/roost.age'
    assert.match(await stack.backup('run', '--file', file), /^\/backups\/roost\.age \(.*, 3 volumes\)/m)
    assert.match(await stack.backup('verify', file), /rows and 3 volumes are the same/)
    const counts = 'select (select count(*) from agents), (select count(*) from executions)'
    const rows = await sql(counts)
    await stack.loseMachine()
    assert.match(await stack.backup('restore', file), /^Restored the backup of .*: 2 agents, 3 volumes/m)
    assert.equal(await sql(counts), rows)
  })

  async function sql(statement: string): Promise<string> {
    const server = await stack.containerOf('postgres')
    return docker('exec', server, 'psql', '-U', 'roost', '-d', 'roost', '-Atqc', statement)
  }

  function requestAt(port: number): Platform['request'] {
    return async (method, path, body) => {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${stack.token}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await reply.text()
      return { status: reply.status, headers: reply.headers, text, json: JSON.parse(text) }
    }
  }
})

/** Sends reads and writes through the proxy, one after the other, until it is ended. */
function probeThrough(stack: Stack) {
  const failed: string[] = []
  let count = 0
  let isEnded = false
  const running = (async () => {
    while (!isEnded) {
      const isWrite = count % 4 === 0
      const reply = isWrite
        ? stack.request('PUT', '/api/users/me/preferences/probe', { value: count })
        : stack.request('GET', '/api/agents')
      const failure = await reply.then(
        ({ status, text }) => (status < 400 ? null : `${status} ${text.slice(0, 200)}`),
        (error: Error) => `${error.message} ${error.cause}`,
      )
      if (failure) failed.push(`${isWrite ? 'write' : 'read'}: ${failure}`)
      count += 1
      await nextTurn()
    }
  })()
  return {
    /** Resolves after this many more requests. */
    until(more: number) {
      const goal = count + more
      return eventually(
        async () => count,
        (now) => now >= goal,
      )
    },
    takeFailed: () => failed.splice(0),
    async end() {
      isEnded = true
      await running
      return { failed, count }
    },
  }
}

async function buildServices(): Promise<void> {
  const engine = connect('docker:')
  const folder = join(import.meta.dirname, 'services')
  const file = async (path: string, executable = false) => ({
    path,
    content: await readFile(join(folder, path)),
    executable,
  })
  const onProgress = () => {}
  await buildImage({
    docker: engine,
    tag: services,
    dockerfile: 'Dockerfile',
    subject: 'platform',
    files: [await file('Dockerfile'), await file('entry.sh', true)],
    arguments: {
      BASE_IMAGE: await ensureBase({ docker: engine, onProgress, env: process.env }),
      ...proxies(process.env),
    },
    labels: {},
    onProgress,
  })
}
