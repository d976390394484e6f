/** Credentials of a real agent: what runs get, what survives a restart, and what stays secret. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually, type Platform, startPlatform } from './platform.ts'
import { answerOf, chat, createAgent, runInAgent } from './steps.ts'

const name = 'qa-credentials'
const secret = 'canary-credential-7f3a91'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const credentials = (path: string, body?: object) =>
  platform.request(
    body || path !== 'status' ? 'POST' : 'GET',
    `/api/agents/${name}/credentials/${path}`,
    body,
  )
const inAgent = (script: string) => runInAgent(name, script)
/** Prints only the value's length, because masking would hide the value. */
const lengthInRun = () => answerOf(platform, name, `[[tool:Bash:printf %s "$CRM_TOKEN" | wc -c]]`)

describe('credentials', () => {
  test("a credential injected while the agent runs is in the next run's environment, and in no response or log", async () => {
    assert.match(await lengthInRun(), /tool-result: 0\b/)
    const injected = await credentials('inject', { files: { '.env': `CRM_TOKEN=${secret}\n` } })
    assert.equal(injected.status, 200, injected.text)
    assert.equal(await inAgent('stat -c "%a %U" .env 2>/dev/null || stat -c "%a %U" ~/.env'), '600 developer')
    assert.match(await lengthInRun(), new RegExp(`tool-result: ${secret.length}\\b`))
    const printed = await chat(platform, name, '[[tool:Bash:echo "it is $CRM_TOKEN"]]')
    assert.match(printed.json.response, /it is \[secret\]/)
    const executions = await platform.request('GET', `/api/agents/${name}/executions?limit=5`)
    for (const { id } of executions.json.executions ?? executions.json) {
      const log = await platform.request('GET', `/api/agents/${name}/executions/${id}/log`)
      assert.ok(!log.text.includes(secret), id)
    }
    const status = await credentials('status')
    assert.deepEqual(status.json.variables, ['CRM_TOKEN'])
    for (const { text } of [status, injected, printed]) assert.ok(!text.includes(secret))
    assert.ok(!platform.output().includes(secret))
  })

  test('credentials survive a restart, and can be restored from the bundle', async () => {
    assert.equal((await credentials('export')).json.encrypted_file, '.credentials.enc')
    assert.equal((await platform.request('POST', `/api/agents/${name}/stop`)).status, 200)
    const started = await platform.request('POST', `/api/agents/${name}/start`)
    assert.equal(started.json.credentials_injection, 'success', started.text)
    assert.match(await lengthInRun(), new RegExp(`tool-result: ${secret.length}\\b`))
    await inAgent('rm ~/.env')
    assert.equal((await credentials('import')).status, 200)
    assert.match(await lengthInRun(), new RegExp(`tool-result: ${secret.length}\\b`))
  })

  test(".mcp.json follows its template, and always contains the platform's server", async () => {
    const server = `{"mcpServers":{"crm":{"command":"npx","args":["crm"],"env":{"KEY":"\${CRM_TOKEN}","OTHER":"\${NOT_SET:-x}"}}}}`
    await inAgent(`cat > ~/.mcp.json.template <<'END'\n${server}\nEND`)
    const injected = await credentials('inject', { files: { '.env': `CRM_TOKEN=${secret}-2\n` } })
    assert.equal(injected.status, 200, injected.text)
    const { mcpServers } = JSON.parse(await inAgent('cat ~/.mcp.json'))
    assert.deepEqual(mcpServers.crm.env, { KEY: `${secret}-2`, OTHER: 'x' })
    assert.equal(mcpServers.roost.type, 'http')
    const audit = await eventually(
      () => platform.request('GET', '/api/audit-log?limit=50'),
      ({ text }) => text.includes('inject_credentials'),
    )
    assert.ok(!audit.text.includes(secret))
  })
})
