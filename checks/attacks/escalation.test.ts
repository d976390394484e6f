/** Attacks on the agent program from inside its container: its rights lead to other users, and to root. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Platform, startPlatform } from '../acceptance/platform.ts'
import { answerOf, createAgent, docker } from '../acceptance/steps.ts'

const agent = 'att-escalate'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, agent)
})
after(() => platform?.[Symbol.asyncDispose]())

/** Runs a script as a turn's tools do. */
const asTurn = (script: string) =>
  docker('exec', '-u', 'developer', '-w', '/home/developer', `agent-${agent}`, 'bash', '-c', script)
const program = '$(pgrep -of "^node .*agent/src/start.ts")'

test('a signal does not open the debugger of the agent program', async () => {
  assert.match(await asTurn(`echo ${program}`), /^\d+$/)
  const attack = `kill -USR1 ${program}; for try in $(seq 30); do
    curl -s -m 1 http://127.0.0.1:9229/json && break; sleep 0.1; done; true`
  assert.equal(await asTurn(attack), '')
  assert.equal(await answerOf(platform, agent, '[[reply:still here]]'), 'still here')
})

test('the memory, environment and files of the agent program stay closed', async () => {
  for (const path of ['environ', 'mem', 'root/etc/shadow', 'fd/0', 'maps']) {
    const outcome = await asTurn(
      `head -c 1 /proc/${program}/${path} >/dev/null 2>&1 && echo open || echo closed`,
    )
    assert.equal(outcome, 'closed', path)
  }
  // PTRACE_ATTACH, by its number on this processor.
  const trace = `perl -e '$n = \`uname -m\` =~ /x86/ ? 101 : 117; print syscall($n, 16, $ARGV[0] + 0, 0, 0) == 0 ? "attached" : "refused"' ${program}`
  assert.equal(await asTurn(trace), 'refused')
})

test('variables of the workspace do not reach the agent program or a program with more rights', async () => {
  const planted =
    'NODE_OPTIONS=--require=/home/developer/planted.cjs\nLD_PRELOAD=/home/developer/planted.so\n'
  await asTurn(
    `printf '${planted}' > .env; echo 'require("fs").writeFileSync("/home/developer/loaded-by-" + process.pid, String(process.getuid()) + process.argv.join(" "))' > planted.cjs`,
  )
  await platform.request('POST', `/api/agents/${agent}/stop`)
  const started = await platform.request('POST', `/api/agents/${agent}/start`)
  assert.equal(started.status, 200, started.text)
  assert.equal(await answerOf(platform, agent, '[[reply:ok]]'), 'ok')
  const loaded = await asTurn('cat loaded-by-* 2>/dev/null')
  assert.doesNotMatch(loaded, /agent\/src\/start/)
  assert.match(await asTurn('sudo -n true 2>&1 || echo refused'), /refused/)
})
