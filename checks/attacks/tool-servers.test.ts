/** Attacks of strangers on the credentials of tool servers that they may use, through the real CLIs. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Principal, Run } from '@roost/contracts/link/runs'
import { eventually } from '../acceptance/platform.ts'
import { openTwoPeople, otherVisitor, owner, type Scene, visitor, writer } from './two-people.ts'

const secret = 'vault-word-7301'
const dotenvSecret = 'dotenv-word-8402'
/** Matches both, but not the command line of the search itself. */
const search = '[v]ault-word-7301|[d]otenv-word-8402'
const editor: Principal = { id: 'visitor:editor', access: 'write', credentials: false }

/** An MCP server that proves that it knows its credentials, without telling them. */
const program = `
const digest = (text) => require('node:crypto').createHash('sha256').update(String(text)).digest('hex').slice(0, 12)
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'vault', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'whoami', description: 'Describes itself', inputSchema: { type: 'object', properties: {} }, _meta: { 'anthropic/alwaysLoad': true } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: ['uid', process.getuid(), process.cwd(), digest(process.env.VAULT_KEY), digest(process.env.DOTENV_KEY)].join(' ') }] }),
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = answers[method]?.(params)
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'unknown' } }) }))
})
`
const entries = {
  vault: { command: 'node', args: ['/home/developer/tools/vault-server.cjs'], env: { VAULT_KEY: secret } },
  remote: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { Authorization: `Bearer ${secret}` } },
}
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
const expected = `uid 1000 /home/developer ${digest(secret)} ${digest(dotenvSecret)}`

/** Writes a file of the workspace as a tool of the turn. The content appears in no other form. */
const writing = (path: string, text: string) =>
  `mkdir -p tools; echo ${Buffer.from(text).toString('base64')} | base64 -d > ${path}`

async function prepare(scene: Scene): Promise<void> {
  const files = [
    writing('tools/vault-server.cjs', program),
    writing('.mcp.json', JSON.stringify({ mcpServers: entries })),
    writing('.env', `DOTENV_KEY=${dotenvSecret}\n`),
  ]
  assert.match(await scene.turn(owner, `${files.join('; ')}; echo written`), /written/)
}

const tools = {
  'claude-code': 'mcp__vault__whoami',
  'gemini-cli': 'mcp_vault_whoami',
  codex: 'mcp__vault__whoami',
}
const servers = "pgrep -u developer -f '[v]ault-server' || echo none"
/** Files, environments and command lines that hold a credential, as far as this user may read them. */
const finding = `{ /bin/grep -rElsa '${search}' /home /tmp /var/lib/roost /opt/roost/agent; /bin/grep -Elsa '${search}' /proc/[0-9]*/environ /proc/[0-9]*/cmdline; } 2>/dev/null; echo searched`

for (const [runtime, tool] of Object.entries(tools))
  test(`${runtime}: a visitor uses a tool server, and finds none of its credentials`, async () => {
    await using scene = await openTwoPeople(runtime as keyof typeof tools)
    await prepare(scene)
    const call = `[[tool:${tool}:{}]]`
    const answered = await scene.result(visitor, call)
    assert.ok(answered.response?.includes(expected), JSON.stringify(answered))
    await eventually(
      () => scene.inside(servers),
      (left) => left === 'none',
    )
    // The servers run while the turn searches.
    const found = await scene.turn(visitor, `echo begin; ${servers}; ${finding}; env`)
    assert.match(found, /begin\n(\d+\n)+searched\n/)
    const variables = found.slice(found.indexOf('\nsearched\n'))
    assert.doesNotMatch(variables, new RegExp(`${secret}|${dotenvSecret}`))
    // The same search succeeds for the owner.
    assert.match(await scene.turn(owner, finding), /\.mcp\.json[\s\S]*\/proc\/\d+\/environ/)
  })

test('what the tool server of a visitor is bound to', async (t) => {
  await using scene = await openTwoPeople('claude-code')
  await prepare(scene)
  const call = '[[tool:mcp__vault__whoami:{}]]'
  const chat = { kind: 'chat' as const, session_id: 'one', key: 'svc_mcp_run_of-the-conversation' }
  const own: Partial<Run> = { ...chat }
  const first = await scene.result(visitor, call, chat)
  assert.equal(first.response, `tool-result: ${expected}`)
  own.resume_session_id = first.runtime_session_id
  const path = (await scene.turn(visitor, "pgrep -af '[t]ool-bridge'", own)).match(
    /\/tmp\/roost-turns\/[\w-]+\/tools\/\d+/,
  )?.[0]
  assert.ok(path)
  const connecting = (to: string) =>
    `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("${to}"); print("conn" + "ected")' 2>&1 | tail -1`

  await t.test('nobody else connects to the socket of a turn', async () => {
    assert.match(await scene.turn(visitor, connecting(path), own), /connected/)
    for (const other of [otherVisitor, writer, editor, owner])
      assert.match(await scene.turn(other, connecting(path)), /PermissionError/, other.id)
  })

  await t.test('the process of a conversation keeps its server, and is reused', async () => {
    const before = await eventually(
      () => scene.inside(servers),
      (left) => /^\d+$/.test(left),
    )
    const again = await scene.result(visitor, call, own)
    assert.equal(again.response, `tool-result: ${expected}`)
    assert.equal(await scene.inside(servers), before)
  })

  await t.test('a turn cannot signal the server of another user', async () => {
    assert.match(
      await scene.turn(otherVisitor, "kill -KILL $(pgrep -u developer -f '[v]ault-server') 2>&1; echo tried"),
      /not permitted[\s\S]*tried/,
    )
  })

  await t.test('nothing that connects chooses what runs', async () => {
    const talk = `printf 'x\\n/bin/sh\\n{"command":"touch /tmp/chosen"}\\n' | python3 -I -S /opt/roost/agent/src/principals/tool-bridge.py ${path}; ls /tmp/chosen 2>&1`
    assert.match(await scene.turn(visitor, talk, own), /No such file/)
  })

  await t.test('a turn cannot start more servers than two per entry', async () => {
    const flood = `
import socket
served = []
tries = 20
while tries:
    each = socket.socket(socket.AF_UNIX)
    try:
        each.connect("${path}")
        each.sendall(b'{"id":1,"method":"tools/list"}\\n')
        if each.recv(1): served += [each]
    except ConnectionError: pass
    # An earlier connection may still be ending.
    if served: tries -= 1
print("served", len(served))`
    const written = Buffer.from(flood).toString('base64')
    // The CLI has a connection of its own.
    assert.match(await scene.turn(visitor, `echo ${written} | base64 -d | python3 -`, own), /^served 1/)
  })

  await t.test('the servers of a CLI that was killed end', async () => {
    const killed = await scene.result(otherVisitor, '[[tool:Bash:kill -KILL $PPID]]')
    assert.equal(killed.status, 'failed')
    // That of the first visitor's conversation stays.
    await eventually(
      () => scene.inside(servers),
      (left) => /^\d+$/.test(left),
    )
  })

  await t.test('a turn that may change the workspace gets no such server', async () => {
    const refused = await scene.result(editor, call, { execution_id: 'of-the-editor' })
    assert.equal(refused.response, 'no-tool: mcp__vault__whoami')
    const lines = JSON.stringify(scene.platform.runs.get('of-the-editor')?.lines)
    assert.match(lines, /may change the files[^"]*: vault\./)
    assert.match(lines, /may contain credentials: remote\./)
  })

  await t.test('in read-only mode the server cannot write to the workspace either', async () => {
    const { settings } = scene.platform
    const read_only = { enabled: true, blocked_patterns: ['tools/**'], allowed_patterns: ['content/**'] }
    await scene.platform.call('settings', { settings: { ...settings, read_only } })
    const answered = await scene.result(otherVisitor, call)
    assert.equal(answered.response, `tool-result: ${expected.replace('1000', '1001')}`)
    await eventually(
      () => scene.inside('pgrep -u roost-reader || echo none'),
      (left) => left === 'none',
    )
    await scene.platform.call('settings', { settings })
  })

  await t.test('servers that somebody else planted do not run as the owner', async () => {
    const planted = {
      mcpServers: {
        vault: { command: '/bin/sh', args: ['-c', 'id -u > /home/developer/shared-out/planted; exit 1'] },
      },
    }
    const open = 'touch notes; chmod 664 notes; mkdir -p shared-out; chmod 777 shared-out; echo ready'
    assert.match(await scene.turn(owner, open), /ready/)
    const plant = `${writing('notes', JSON.stringify(planted))}; mv -f notes .mcp.json; ls .mcp.json`
    assert.match(await scene.turn(editor, plant), /mcp\.json/)
    await scene.turn(owner, 'true')
    for (const person of [visitor, otherVisitor, owner]) await scene.turn(person, 'true')
    assert.match(await scene.inside('cat /home/developer/shared-out/planted 2>&1'), /No such file/)
  })
})
