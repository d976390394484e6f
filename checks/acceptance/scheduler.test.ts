/** Schedules fire once when due, even if processes are killed meanwhile. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { type SchedulerProcess, startScheduler } from './scheduler-process.ts'
import { agentKeyOf, createAgent, docker, isOver, untilExecution } from './steps.ts'

type Clock = ReturnType<typeof clockOf>

/** Operations on the schedules of one agent; disposing also ends its schedulers. */
function clockOf(platform: Platform, name: string) {
  const schedulers: SchedulerProcess[] = []
  const api = (method: string, path: string, body?: object) =>
    platform.request(method, `/api/agents/${name}/${path}`, body)
  const firesOf = async (id: string): Promise<Loose[]> => (await api('GET', `schedules/${id}/fires`)).json
  return {
    platform,
    schedulers,
    api,
    firesOf,
    start: async () => schedulers.push(await startScheduler(platform)),
    status: async () => (await platform.request('GET', '/api/agents/scheduler/status')).json,
    async makeSchedule(fields: object): Promise<string> {
      const body = { name: 'tick', cron_expression: '* * * * *', message: '[[reply:tock]]', ...fields }
      const made = await api('POST', 'schedules', body)
      assert.equal(made.status, 201, made.text)
      return made.json.id
    },
    runsOf: async (id: string): Promise<Loose[]> => (await api('GET', `schedules/${id}/executions`)).json,
    untilFire: (id: string, accept: (fire: Loose) => boolean): Promise<Loose> =>
      eventually<Loose>(async () => (await firesOf(id)).find(accept), Boolean, 100_000),
    async [Symbol.asyncDispose]() {
      for (const scheduler of schedulers) await scheduler[Symbol.asyncDispose]()
      await platform[Symbol.asyncDispose]()
    },
  }
}

const killedName = 'qa-clock-killed'

// These tests wait for real minutes, so they run concurrently, each on its own platform.
describe('due schedules', { concurrency: true }, () => {
  describe('on a healthy platform', { concurrency: false }, () => {
    const name = 'qa-clock'
    const other = 'qa-clock-other'
    let clock: Clock
    before(async () => {
      clock = clockOf(await startPlatform(), name)
      await createAgent(clock.platform, name)
    })
    after(async () => {
      await clock?.[Symbol.asyncDispose]()
    })

    /** Sends a request as a process of the platform on this machine. */
    async function internal(
      method: string,
      path: string,
      body?: object,
    ): Promise<{ status: number; json: Loose }> {
      const response = await fetch(`http://127.0.0.1:${clock.platform.internalPort}${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await clock.platform.internalSecret()}`,
        },
        body: body ? JSON.stringify(body) : null,
      })
      return { status: response.status, json: await response.json() }
    }

    test('a schedule for every minute fires on the minute, once, with two schedulers running', async () => {
      await Promise.all([clock.start(), clock.start()])
      const id = await clock.makeSchedule({})
      const fire = await clock.untilFire(id, ({ outcome }) => outcome === 'fired')
      assert.equal(fire.due_at.slice(17), '00.000Z')
      const run = await untilExecution(clock.platform, name, fire.execution_id, isOver)
      assert.deepEqual([run.status, run.response, run.triggered_by], ['success', 'tock', 'schedule'])
      assert.ok(Date.parse(run.created_at) >= Date.parse(fire.due_at), 'not early')
      assert.ok(Date.parse(run.created_at) - Date.parse(fire.due_at) < 60_000, 'before the next')
      assert.equal((await clock.runsOf(id)).length, 1)
      const reported = await clock.status()
      assert.equal(reported.running, true)
      assert.ok(clock.schedulers.some((scheduler) => reported.leader.endsWith(` ${scheduler.pid()}`)))
      assert.equal((await clock.api('DELETE', `schedules/${id}`)).status, 204)
    })

    test('a fire is decided once, however often it is handed over; gates record their decision', async () => {
      const id = await clock.makeSchedule({ cron_expression: '0 0 1 1 *' })
      const handOver = (minute: number) =>
        internal('POST', '/api/internal/execute-task', {
          agent_name: name,
          schedule_id: id,
          due_at: `2026-01-01T00:0${minute}:00.000Z`,
          async_mode: true,
        })
      const answers = await Promise.all(Array.from({ length: 20 }, () => handOver(0)))
      assert.deepEqual([...new Set(answers.map((answer) => answer.json.status))], ['accepted'])
      assert.equal(new Set(answers.map((answer) => answer.json.execution_id)).size, 1)
      await untilExecution(clock.platform, name, answers[0]?.json.execution_id, isOver)

      await clock.api('PUT', 'autonomy', { enabled: false })
      assert.deepEqual((await handOver(1)).json, { status: 'suppressed', reason: 'autonomy_off' })
      await clock.api('PUT', 'autonomy', { enabled: true })
      assert.deepEqual(
        (await clock.firesOf(id)).map(({ outcome, reason }) => [outcome, reason]),
        [
          ['suppressed', 'autonomy_off'],
          ['fired', null],
        ],
      )

      const write = (script: string) =>
        docker(
          'exec',
          '-u',
          'developer',
          `agent-${name}`,
          'sh',
          '-c',
          `mkdir -p ~/.roost && printf '%s' '${script}' > ~/.roost/pre-check && chmod +x ~/.roost/pre-check`,
        )
      await write('#!/bin/sh\ntrue')
      const skipped = (await handOver(2)).json
      assert.deepEqual([skipped.status, skipped.reason], ['skipped', 'pre_check_empty'])
      await write('#!/bin/sh\necho "[[reply:from the hook]]"')
      const hookResult = (await internal('POST', `/api/internal/agents/${name}/pre-check`)).json
      assert.deepEqual(hookResult, {
        hook_present: true,
        exit_code: 0,
        stdout: '[[reply:from the hook]]\n',
        stderr: '',
      })
      const fired = (await handOver(3)).json
      const run = await untilExecution(clock.platform, name, fired.execution_id, isOver)
      assert.equal(run.response, 'from the hook')
    })

    test('a failed fire waits for its retry, and deleting the schedule cancels the retry', async () => {
      const id = await clock.makeSchedule({
        cron_expression: '0 0 1 1 *',
        message: '[[fail]]',
        max_retries: 1,
      })
      const { json } = await clock.api('POST', `schedules/${id}/trigger`)
      await untilExecution(clock.platform, name, json.execution_id, isOver)
      const [retry] = (await clock.runsOf(id)).filter(
        (row) => row.retry_of_execution_id === json.execution_id,
      )
      assert.deepEqual([retry?.status, retry?.attempt_number], ['pending_retry', 2])
      assert.equal((await clock.api('DELETE', `schedules/${id}`)).status, 204)
      const cancelled = await untilExecution(clock.platform, name, retry?.id, isOver)
      assert.equal(cancelled.status, 'cancelled')
    })

    test('on the agent network, an agent runs tasks as itself and only where permissions allow', async () => {
      await createAgent(clock.platform, other)
      const key = await agentKeyOf(name)
      const ask = async (path: string, body: object, bearer = key) => {
        const script = `
          const base = process.env.ROOST_LINK_URL.replace(/^ws/, 'http').replace(/[/]link$/, '');
          const [path, body, bearer] = process.argv.slice(1);
          const headers = { 'content-type': 'application/json', ...(bearer ? { authorization: 'Bearer ' + bearer } : {}) };
          const answer = await fetch(base + path, { method: 'POST', headers, body });
          console.log(JSON.stringify({ status: answer.status, json: await answer.json() }));`
        const reported = await docker(
          'exec',
          `agent-${name}`,
          'node',
          '--input-type=module',
          '-e',
          script,
          path,
          JSON.stringify(body),
          bearer,
        )
        return JSON.parse(reported)
      }
      const task = { agent_name: name, message: '[[reply:by myself]]', triggered_by: 'schedule' }
      const own = await ask('/api/internal/execute-task', task)
      assert.deepEqual(
        [own.status, own.json.status, own.json.response],
        [200, 'success', 'by myself'],
        JSON.stringify(own),
      )
      const [run] = (await clock.api('GET', 'executions?triggered_by=self_task')).json
      assert.equal(run?.id, own.json.execution_id)
      const refused = await ask('/api/internal/execute-task', { ...task, agent_name: other })
      assert.deepEqual([refused.status, refused.json.error], [403, 'agent_not_permitted'])
      assert.equal((await ask('/api/internal/execute-task', task, '')).status, 401)
      assert.equal((await ask('/api/internal/validate-execution', { execution_id: 'x' })).status, 404)
    })
  })

  test('when everything is killed at a due time, the fire is made up once after the restart', async () => {
    await using clock = clockOf(await startPlatform(), killedName)
    await createAgent(clock.platform, killedName)
    await Promise.all([clock.start(), clock.start()])
    const id = await clock.makeSchedule({})
    const due = new Date(Math.ceil((Date.now() + 8_000) / 60_000) * 60_000)
    await eventually(
      async () => due.getTime() - Date.now(),
      (left) => left < 3_000,
      70_000,
    )
    await Promise.all(clock.schedulers.splice(0).map((scheduler) => scheduler.kill()))
    await clock.platform.killApi()
    await eventually(
      async () => Date.now() - due.getTime(),
      (late) => late > 2_000,
      20_000,
    )
    // The scheduler starts before the API: it claims the fire and hands it over when the API is ready.
    await clock.start()
    await clock.platform.startApi()
    // Sessions end with the platform's last process.
    clock.platform.token = await signIn(clock.platform)
    await clock.start()
    const fire = await clock.untilFire(id, ({ due_at }) => due_at === due.toISOString())
    assert.equal(fire.outcome, 'fired')
    const run = await untilExecution(clock.platform, killedName, fire.execution_id, isOver)
    assert.equal(run.status, 'success')
    // A minute may have begun, with a run of its own, between creating the schedule and reading the time.
    const atDueTime = (await clock.runsOf(id)).filter(({ created_at }) => {
      const late = Date.parse(created_at) - due.getTime()
      return late >= 0 && late < 60_000
    })
    assert.equal(atDueTime.length, 1)
    assert.equal((await clock.api('POST', `schedules/${id}/disable`)).status, 200)
  })
})
