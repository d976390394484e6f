import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestOptions, test } from 'node:test'
import type { Run, RunResult } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { markedProcesses } from '../processes/tree.ts'
import { startTestAgent, type TestAgent, type TestAgentOptions } from '../test/agent.ts'
import { startTestMcp } from '../test/mcp.ts'
import { aRun, type SeenRun } from '../test/platform.ts'
import { prepareProgram } from '../test/process.ts'
import type { Runtime } from './port.ts'

/** The runtime under test; real ones run against the scripted model server. */
export type SuiteSubject = {
  title: string
  runtime: Runtime
  options: TestOptions
  variables: Record<string, string>
  broker(): { url: string; token: string }
  /** Makes the broker fail the next requests; absent without a broker. */
  cutBroker?(count: number): void
  breakAnswer?(afterBytes: number): { happened(): boolean }
  model: string | null
  /** True when the text arrives in pieces before the complete text. */
  hasPieces: boolean
  /** True for a CLI with a model. */
  isReal: boolean
  limitsTurns: boolean
}

const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Tests for every adapter, with the CLI as a real process. */
export function runtimeSuite(subject: SuiteSubject): void {
  const { runtime, title: name } = subject

  function promise(title: string, body: (t: TestAgent) => Promise<void>, options: TestAgentOptions = {}) {
    test(`${name}: ${title}`, subject.options, async () => {
      await using t = await startTestAgent({ runtime, variables: subject.variables, ...options })
      await body(t)
    })
  }

  async function turn(
    t: Pick<TestAgent, 'platform'>,
    overrides: Partial<Run>,
  ): Promise<{ result: RunResult; seen: SeenRun }> {
    const run = aRun({ broker: subject.broker(), model: subject.model, ...overrides })
    t.platform.enqueue(run)
    const result = await t.platform.result(run.execution_id)
    return { result, seen: seenRun(t, run.execution_id) }
  }

  const chat = (overrides: Partial<Run>) => ({
    kind: 'chat' as const,
    session_id: 'conversation',
    ...overrides,
  })

  promise('a task returns its answer, its transcript and its usage', async (t) => {
    const { result, seen } = await turn(t, { message: 'hello [[reply:there you are]]' })
    assert.equal(result.status, 'success', JSON.stringify(result))
    assert.equal(result.response, 'there you are')
    assert.equal(result.terminal_reason, 'completed')
    assert.equal(result.error, null)
    assert.ok(result.runtime_session_id)
    assert.equal(result.metadata.session_id, result.runtime_session_id)
    assert.equal(result.metadata.input_tokens, 10)
    assert.equal(result.metadata.output_tokens, 10)
    assert.equal(seen.started.length, 1)
    const kinds = seen.lines.map((line) => ('subtype' in line ? `${line.type}/${line.subtype}` : line.type))
    assert.deepEqual(kinds, ['system/init', 'assistant', 'result/success'])
    assert.deepEqual(textsOf(seen.lines), ['there you are'])
    if (!subject.hasPieces) return
    const pieces = t.platform.partials.filter(({ kind }) => kind === 'text')
    assert.equal(pieces.map(({ text }) => text).join(''), 'there you are')
  })

  promise('a tool call and its result are in the transcript', async (t) => {
    const { result, seen } = await turn(t, { message: '[[tool:Bash:echo out-42]]' })
    assert.equal(result.status, 'success', JSON.stringify(result))
    assert.match(result.response ?? '', /^tool-result: [\s\S]*out-42/)
    assert.equal(result.metadata.tool_count, 1)
    const blocks = seen.lines.flatMap((line) => (line.type === 'assistant' ? line.message.content : []))
    const call = blocks.find((block) => block.type === 'tool_use')
    const answers = seen.lines.flatMap((line) => (line.type === 'user' ? line.message.content : []))
    assert.ok(call?.type === 'tool_use' && /bash|shell/i.test(call.name), JSON.stringify(call))
    assert.equal(answers[0]?.tool_use_id, call.id)
    assert.match(answers[0]?.content ?? '', /out-42/)
  })

  promise('a task that resumes a session remembers it', async (t) => {
    const first = await turn(t, { message: 'remember HERON [[reply:noted]]' })
    const second = await turn(t, {
      message: '[[recall:HERON]]',
      resume_session_id: first.result.runtime_session_id,
    })
    assert.equal(second.result.response, 'recall=yes', JSON.stringify(second.result))
    assert.equal(second.result.metadata.output_tokens, 10)
  })

  promise('turns of a conversation remember each other, in one process where the runtime can', async (t) => {
    const first = await turn(t, chat({ message: 'remember HERON [[reply:noted]]' }))
    assert.equal(first.result.status, 'success', JSON.stringify(first.result))
    const resume_session_id = first.result.runtime_session_id
    const second = await turn(t, chat({ message: '[[recall:HERON]]', resume_session_id }))
    assert.equal(second.result.response, 'recall=yes', JSON.stringify(second.result))
    assert.equal(second.result.runtime_session_id, resume_session_id)
    assert.equal(second.result.metadata.output_tokens, 10)
    if (runtime.name === 'codex') return
    assert.deepEqual(second.seen.started, first.seen.started)
  })

  promise('a conversation survives the end of its live process', async (t) => {
    const first = await turn(t, chat({ message: 'remember HERON [[reply:noted]]' }))
    const resume_session_id = first.result.runtime_session_id
    await t.platform.call('session.drop', { session_id: 'conversation' })
    const second = await turn(t, chat({ message: '[[recall:HERON]]', resume_session_id }))
    assert.equal(second.result.response, 'recall=yes', JSON.stringify(second.result))
    assert.deepEqual(textsOf(second.seen.lines), ['recall=yes'])
    const third = await turn(
      t,
      chat({
        message: '[[recall:HERON]]',
        resume_session_id: second.result.runtime_session_id,
        system_prompt: 'other',
      }),
    )
    assert.equal(third.result.response, 'recall=yes', JSON.stringify(third.result))
  })

  for (const kind of ['task', 'chat'] as const)
    promise(`a session unknown to the runtime is reported as lost (${kind})`, async (t) => {
      const { result } = await turn(t, {
        kind,
        session_id: kind === 'chat' ? 'conversation' : null,
        message: 'hello',
        resume_session_id: '11111111-2222-4333-8444-555555555555',
      })
      assert.equal(result.status, 'failed')
      assert.equal(result.error_code, 'agent_error', JSON.stringify(result))
      assert.equal(result.metadata.session_lost, true)
    })

  for (const kind of ['task', 'chat'] as const)
    promise(`a failed model call has its named reason (${kind})`, async (t) => {
      const about = { kind, session_id: kind === 'chat' ? 'conversation' : null }
      const refused = await turn(t, { ...about, message: '[[fail:401]]' })
      assert.equal(refused.result.status, 'failed')
      assert.equal(refused.result.error_code, 'auth', JSON.stringify(refused.result))
      assert.equal(refused.result.terminal_reason, 'auth')
      const last = refused.seen.lines.at(-1)
      assert.ok(last?.type === 'result' && last.is_error, JSON.stringify(last))
    })

  promise('the system prompt reaches the model without appearing in process arguments', async (t) => {
    const { result } = await turn(t, { system_prompt: 'Speak of the MARSHLANDS.', message: '[[system]]' })
    assert.match(result.response ?? '', /MARSHLANDS/, JSON.stringify(result).slice(0, 2000))
  })

  promise('an image reaches the model, another file the workspace', async (t) => {
    const { result } = await turn(t, {
      message: '[[images]]',
      attachments: [
        { name: 'p.png', mimetype: 'image/png', size: 70, data_base64: picture },
        { name: 'a.csv', mimetype: 'text/csv', size: 3, data_base64: Buffer.from('1,2').toString('base64') },
      ],
    })
    assert.equal(result.response, 'images=1', JSON.stringify(result))
    assert.equal(readFileSync(join(t.place.home, 'uploads', 'a.csv'), 'utf8'), '1,2')
    const second = await turn(t, {
      message: 'look [[echo]]',
      attachments: [
        { name: 'a.csv', mimetype: 'text/csv', size: 3, data_base64: Buffer.from('3,4').toString('base64') },
      ],
    })
    const path = join(t.place.home, 'uploads', 'a-1.csv')
    assert.equal(readFileSync(path, 'utf8'), '3,4')
    assert.ok(second.result.response?.includes(path), second.result.response ?? '')
  })

  promise('a message longer than an argument arrives complete', async (t) => {
    const { result } = await turn(t, { message: `${'ä€'.repeat(60_000)} [[len]]` })
    assert.equal(result.status, 'success', JSON.stringify(result).slice(0, 2000))
    assert.match(result.response ?? '', /^len=1200\d\d$/)
  })

  promise('process arguments contain no secret', async (t) => {
    const run = aRun({ broker: subject.broker(), model: subject.model, message: '[[sleep:60]]' })
    t.platform.enqueue(run)
    const pid = await t.platform.until(() => seenRun(t, run.execution_id).started[0], 'started')
    const marked = [pid, ...markedProcesses(run.execution_id)]
    for (const each of marked) {
      const line = existsSync(`/proc/${each}/cmdline`) ? readFileSync(`/proc/${each}/cmdline`, 'utf8') : ''
      assert.ok(!line.includes(run.broker.token) && !line.includes(t.platform.key), line)
    }
    await cancel(t, run)
  })

  promise('a cancelled task leaves no process behind', async (t) => {
    const run = aRun({
      broker: subject.broker(),
      model: subject.model,
      message: '[[tool:Bash:sh -c "sleep 300; true" & sh -c "sleep 300; true"]]',
    })
    t.platform.enqueue(run)
    await t.platform.until(() => hasToolCall(seenRun(t, run.execution_id).lines), 'the tool call')
    const answer = await cancel(t, run)
    assert.equal(answer.state, 'stopped')
    const result = await t.platform.result(run.execution_id)
    assert.equal(result.status, 'cancelled')
    assert.equal(result.error_code, 'user_cancelled')
    assert.deepEqual(markedProcesses(run.execution_id), [])
  })

  promise('a conversation continues after a cancelled turn', async (t) => {
    const first = await turn(t, chat({ message: 'remember HERON [[reply:noted]]' }))
    const resume_session_id = first.result.runtime_session_id
    const run = aRun(
      chat({ broker: subject.broker(), model: subject.model, message: '[[sleep:60]]', resume_session_id }),
    )
    t.platform.enqueue(run)
    await t.platform.until(() => seenRun(t, run.execution_id).lines.length > 0, 'the first line')
    assert.equal((await cancel(t, run)).state, 'stopped')
    assert.equal((await t.platform.result(run.execution_id)).status, 'cancelled')
    const third = await turn(t, chat({ message: '[[recall:HERON]]', resume_session_id }))
    assert.equal(third.result.response, 'recall=yes', JSON.stringify(third.result))
  })

  if (subject.cutBroker)
    promise('a turn survives a temporary outage of the broker', async (t) => {
      subject.cutBroker?.(2)
      const { result } = await turn(t, { message: 'hello [[reply:still here]]' })
      assert.equal(result.status, 'success', JSON.stringify(result))
      assert.equal(result.response, 'still here')
    })

  for (const kind of ['task', 'chat'] as const)
    if (subject.breakAnswer)
      promise(`a turn survives a connection that breaks during the answer (${kind})`, async (t) => {
        const reply = Array.from({ length: 60 }, (_, index) => `word${index * 7919}`).join(' ')
        const broken = subject.breakAnswer?.(3000)
        const { result } = await turn(t, {
          kind,
          session_id: kind === 'chat' ? 'conversation' : null,
          message: `[[reply:${reply}]] [[drip:5]]`,
        })
        assert.equal(result.status, 'success', JSON.stringify(result))
        assert.equal(result.response, reply)
        assert.ok(broken?.happened())
      })

  if (subject.isReal) {
    test(`${name}: the platform's MCP server is offered, with the run's key`, subject.options, async () => {
      await using mcp = await startTestMcp()
      await using t = await startTestAgent({
        runtime,
        variables: subject.variables,
        config: { mcpUrl: mcp.url },
      })
      const { result } = await turn(t, { message: 'hello [[reply:hi]]' })
      assert.equal(result.status, 'success', JSON.stringify(result))
      assert.ok(
        mcp.requests.some(({ method }) => method === 'tools/list'),
        JSON.stringify(mcp.requests),
      )
      const keys = new Set(mcp.requests.map(({ bearer }) => bearer))
      assert.equal(keys.size, 1)
      assert.ok([...keys].every((key) => key?.startsWith('svc_mcp_run_')))
    })

    promise('tools that the run does not allow are not used', async (t) => {
      const path = join(t.place.home, 'made.txt')
      await turn(t, { message: `[[tool:Bash:echo x > ${path}]] [[reply:tried]]`, allowed_tools: ['Read'] })
      assert.equal(existsSync(path), false)
      // Read-only commands are not allowed either.
      const { result } = await turn(t, {
        message: '[[tool:Bash:echo seen-by-the-shell]]',
        allowed_tools: ['Read', 'Grep(x:*)'],
      })
      assert.doesNotMatch(result.response ?? '', /tool-result: seen-by-the-shell/, JSON.stringify(result))
    })

    test(
      `${name}: in read-only mode a write is refused by the hook and by file permissions`,
      asRoot(subject.options),
      async () => {
        await using t = await prepareProgram()
        const { place } = t
        const read_only = {
          enabled: true,
          blocked_patterns: ['*.py'],
          allowed_patterns: ['content/**', '.tmp/**'],
        }
        Object.assign(t.platform.settings, { read_only })
        const variables = { ...subject.variables, AGENT_RUNTIME: runtime.name }
        t.start('start.ts', variables)
        const write = (path: string) =>
          `[[tool:Write:${JSON.stringify({ file_path: join(place.home, path), content: 'x' })}]]`
        const first = await turn(t, chat({ message: `remember HERON ${write('evil.py')}` }))
        assert.match(
          JSON.stringify(first.seen.lines),
          /Read-only mode: [^,]*evil\.py[^,]* must not be changed/,
          JSON.stringify(first.result),
        )
        assert.equal(existsSync(join(place.home, 'evil.py')), false)
        const resume = (result: RunResult) => ({ resume_session_id: result.runtime_session_id })
        const second = await turn(
          t,
          chat({ message: `[[tool:Bash:echo x > evil.txt]]`, ...resume(first.result) }),
        )
        assert.match(second.result.response ?? '', /denied/i, JSON.stringify(second.result))
        const third = await turn(
          t,
          chat({ message: `${write('content/fine.py')} [[recall:HERON]]`, ...resume(second.result) }),
        )
        assert.equal(third.result.response, 'recall=yes', JSON.stringify(third.result))
        assert.equal(readFileSync(join(place.home, 'content', 'fine.py'), 'utf8').trim(), 'x')

        // The developer resumes the reader's session.
        const settings = { ...t.platform.settings, read_only: { ...read_only, enabled: false } }
        await t.platform.call('settings', { settings })
        const fourth = await turn(
          t,
          chat({ message: `${write('mine.py')} [[recall:HERON]]`, ...resume(third.result) }),
        )
        assert.equal(fourth.result.response, 'recall=yes', JSON.stringify(fourth.result))
        assert.equal(statSync(join(place.home, 'mine.py')).uid, 1000)
        // The reader resumes the session that the developer continued.
        await t.platform.call('settings', { settings: { ...settings, read_only } })
        const fifth = await turn(t, chat({ message: '[[recall:HERON]]', ...resume(fourth.result) }))
        assert.equal(fifth.result.response, 'recall=yes', JSON.stringify(fifth.result))
      },
    )
  }

  if (subject.limitsTurns)
    promise('an exceeded turn limit is reported as max_turns', async (t) => {
      const { result } = await turn(t, { message: '[[tool:Bash:echo x]]', max_turns: 1 })
      assert.equal(result.status, 'failed', JSON.stringify(result))
      assert.equal(result.error_code, 'max_turns', JSON.stringify(result))
    })

  async function cancel(t: TestAgent, run: Run) {
    const about = { execution_id: run.execution_id, claim_token: run.claim_token }
    return await t.platform.call('cancel', { ...about, grace_seconds: 5 })
  }
}

/** Switching users needs root. */
function asRoot(options: TestOptions): TestOptions {
  return process.getuid?.() === 0 ? options : { skip: 'only root can give a process two users' }
}

export function seenRun(t: Pick<TestAgent, 'platform'>, executionId: string): SeenRun {
  const stored = t.platform.runs.get(executionId)
  assert.ok(stored)
  return stored
}

function textsOf(lines: TranscriptLine[]): string[] {
  return lines
    .flatMap((line) => (line.type === 'assistant' ? line.message.content : []))
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
}

function hasToolCall(lines: TranscriptLine[]): boolean {
  return lines.some(
    (line) => line.type === 'assistant' && line.message.content.some(({ type }) => type === 'tool_use'),
  )
}
