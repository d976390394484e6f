/** Attempts at one task, in real containers: what is kept, what they cost, and what a check can do. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { attemptsOf, hasEnded, isDone } from './attempts-steps.ts'
import { type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

const run = promisify(execFile)
const agent = 'qa-attempts'
let platform: Platform
let steps: ReturnType<typeof attemptsOf>
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, agent)
  steps = attemptsOf(platform, agent)
})
after(() => platform?.[Symbol.asyncDispose]())

test('three attempts, one kept: the workspace is that of the winner, and the others are gone', async () => {
  await platform.request('POST', `/api/agents/${agent}/task`, {
    message: '[[tool:Bash:mkdir -p src; echo before > src/a.txt; echo keep > other.txt]] [[reply:ok]]',
  })
  const write = (name: string) =>
    `[[tool:Bash:echo ${name} > src/a.txt; echo ${name} > src/${name}.txt; rm other.txt]] [[reply:wrote ${name}]]`
  const id = await steps.start({
    messages: [write('one'), write('two'), write('three')],
    check: 'grep -q two src/a.txt && test ! -e other.txt && echo "$PWD"',
  })
  const names = (await platform.request('GET', '/api/agents')).json.map(({ name }: Loose) => name)
  assert.ok(!names.some((name: string) => name.startsWith('attempt-')))
  const done = await steps.until(id, isDone)
  assert.deepEqual(
    done.attempts.map(({ status, result, check }: Loose) => [status, result, check?.exit_code]),
    [
      ['done', 'wrote one', 1],
      ['done', 'wrote two', 0],
      ['done', 'wrote three', 1],
    ],
    JSON.stringify(done),
  )
  assert.equal(done.attempts[1].check.output, '/home/developer\n')
  assert.deepEqual(await steps.forks(), [])
  const kept = await platform.request('POST', `${steps.url}/${id}/keep`, { attempt: 2 })
  assert.equal(kept.status, 202, kept.text)
  const ended = await steps.until(id, hasEnded)
  assert.equal(ended.status, 'kept', JSON.stringify(ended))
  assert.deepEqual([await steps.read('src/a.txt'), await steps.read('src/two.txt')], ['two\n', 'two\n'])
  assert.equal(
    (await platform.request('GET', `/api/agents/${agent}/files/download?path=other.txt`)).status,
    404,
  )
  await steps.assertNothingLeft()
})

test('the CLI tries a task, keeps the best check without asking, and shows the set', async () => {
  const env = { ...process.env, ROOST_URL: platform.url, ROOST_KEY: platform.token }
  const roost = async (...words: string[]) =>
    (await run(join(resolve(import.meta.dirname, '../..'), 'roost'), words, { env })).stdout
  const wrong = '[[tool:Bash:echo wrong > cli.txt]] [[reply:wrong]]'
  const right = '[[tool:Bash:echo right > cli.txt]] [[reply:right]]'
  const options = ['--attempts', '1', '--also', right, '--check', 'grep right cli.txt']
  const tried = await roost('task', agent, wrong, ...options, '--pick', 'best-check')
  assert.match(tried, /attempt 2 was kept/)
  assert.match(tried, /exit code 1.*passed/s)
  assert.equal(await steps.read('cli.txt'), 'right\n')
  const [{ id }] = (await platform.request('GET', steps.url)).json.sets
  assert.match(await roost('attempts', 'list', agent), /kept 2/)
  assert.match(await roost('attempts', 'show', agent, id), /Undo it: roost history restore/)
  await roost('attempts', 'delete', agent, id)
  await assert.rejects(roost('task', agent, '[[fail]]', '--attempts', '1'), /No attempt succeeded/)
  const [failed] = (await platform.request('GET', steps.url)).json.sets
  await roost('attempts', 'discard', agent, failed.id, '--yes')
  await steps.until(failed.id, hasEnded)
  await roost('attempts', 'delete', agent, failed.id)
  await steps.assertNothingLeft()
})

test('the cap holds over the sum', async () => {
  const spender = '[[usage:100000,100000]] [[tool:Bash:echo x >> spent.txt]] [[reply:done]]'
  const id = await steps.start({ messages: [spender], repeats: 3, max_cost_usd: 0.000001 })
  const set = await steps.until(id, isDone)
  // The first requests were under way together; each second one was refused.
  for (const attempt of set.attempts) assert.equal(attempt.error_code, 'cap_reached', JSON.stringify(attempt))
  const perRequest = Math.max(...set.attempts.map(({ cost }: Loose) => cost))
  assert.ok(set.cost > 0 && set.cost <= perRequest * 3 + 1e-9, JSON.stringify(set))
  await platform.request('POST', `${steps.url}/${id}/discard`)
  await steps.until(id, hasEnded)
  await steps.assertNothingLeft()
})

test('a hostile check hangs, fills its output, and reaches neither siblings nor keys', async () => {
  const check = [
    'echo evil > evil.txt; echo evil > /home/developer/../evil.txt',
    'yes output | head -c 5000000; head -c 3000 /dev/urandom; head -c 100000 /dev/zero',
    'for i in $(seq 100); do setsid sleep 600 & done 2>/dev/null',
    'env; cat /proc/1/environ 2>&1; ls /var/lib/roost 2>&1; cat /var/lib/roost/*/* 2>&1 | head -c 1000',
    'sleep 600',
  ].join('; ')
  const id = await steps.start({ messages: ['[[reply:ok]]'], repeats: 2, check, check_timeout_seconds: 15 })
  const done = await steps.until(id, isDone)
  for (const { check: result, changes } of done.attempts) {
    assert.deepEqual([result.exit_code, result.timed_out, result.truncated], [null, true, true])
    assert.ok(result.output.length <= 20_000, `${result.output.length} characters`)
    assert.doesNotMatch(result.output, /canary|svc_mcp_|ROOST_AGENT_KEY=[^\s[]/)
    assert.deepEqual(changes, { added: 0, changed: 0, deleted: 0, renamed: 0 }, 'made before the check')
  }
  await platform.request('POST', `${steps.url}/${id}/discard`)
  await steps.until(id, hasEnded)
  await steps.assertNothingLeft()
})
