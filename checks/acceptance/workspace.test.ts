/** Workspace files over the API, SSH access, and read-only mode with each runtime. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { sshHost } from './engine.ts'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { answerOf, assertShape, createAgent, openTerminal, runInAgent } from './steps.ts'

const run = promisify(execFile)
const name = 'qa-files'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const files = (method: string, query: string, body?: object, headers: Record<string, string> = {}) =>
  platform.request(method, `/api/agents/${name}/files${query}`, body, { headers })
const save = (path: string, content: string) => files('PUT', `?path=${encodeURIComponent(path)}`, { content })
const download = (path: string, headers = {}) =>
  files('GET', `/download?path=${encodeURIComponent(path)}`, undefined, headers)
const inAgent = (script: string) => runInAgent(name, script)

describe('files', () => {
  test('saved content is read back byte by byte, under any name', async () => {
    const odd = 'sub/dir/ünï cöde 文 "q".txt'
    const reply = await save(odd, 'hëllo\n')
    assert.deepEqual(reply.json, { success: true, path: `/home/developer/${odd}`, size: 7 })
    const read = await download(odd)
    assert.equal(read.text, 'hëllo\n')
    assert.match(read.headers.get('content-disposition') ?? '', /^attachment; .*filename\*=UTF-8''%C3%BCn/)
    assert.equal(read.headers.get('x-content-type-options'), 'nosniff')
    assert.equal((await save('a.txt', '')).json.size, 0)
    assert.equal((await save('/home/developer/a.txt', 'abcdefg')).json.size, 7)
  })

  test('a tree has its depth and counts, and hidden names only on request', async () => {
    const top = (await files('GET', '')).json
    assert.deepEqual(
      [top.base_path, top.requested_path, top.truncated],
      ['/home/developer', '/home/developer', false],
    )
    const sub = top.tree.find((entry: Loose) => entry.name === 'sub')
    assertShape(sub, { path: 'string', modified: 'string', file_count: 'number', type: 'string' }, 'folder')
    assert.equal(sub.children, undefined)
    const entry = top.tree.find((each: Loose) => each.name === 'a.txt')
    assert.deepEqual([entry.type, entry.size, entry.path], ['file', 7, '/home/developer/a.txt'])
    const deep = (await files('GET', '?depth=3')).json
    const folder = deep.tree.find((each: Loose) => each.name === 'sub')
    assert.match(folder.children[0].children[0].name, /^ünï/)
    const isHidden = (each: Loose) => each.name.startsWith('.')
    assert.equal(top.tree.some(isHidden), false)
    assert.equal((await files('GET', '?show_hidden=true')).json.tree.some(isHidden), true)
    for (const query of ['?depth=0', '?depth=11', '?show_hidden=maybe'])
      assert.equal((await files('GET', query)).status, 422, query)
    assert.equal((await files('GET', '?path=none')).status, 404)
  })

  test('byte ranges are served', async () => {
    for (const [range, status, text, where] of [
      ['bytes=0-1', 206, 'ab', 'bytes 0-1/7'],
      ['bytes=-2', 206, 'fg', 'bytes 5-6/7'],
      ['bytes=4-', 206, 'efg', 'bytes 4-6/7'],
      ['bytes=7-', 416, '', 'bytes */7'],
      ['lines=1-2', 200, 'abcdefg', null],
    ] as const) {
      const reply = await download('a.txt', { range })
      assert.equal(reply.status, status, range)
      if (status !== 416) assert.equal(reply.text, text, range)
      assert.equal(reply.headers.get('content-range'), where, range)
    }
  })

  test('a folder downloads as tar.gz, and so does the whole workspace', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-tar-'))
    try {
      for (const path of ['sub', '/home/developer']) {
        const response = await fetch(
          `${platform.url}/api/agents/${name}/files/download?path=${encodeURIComponent(path)}`,
          { headers: { authorization: `Bearer ${platform.token}` } },
        )
        assert.equal(response.status, 200, path)
        assert.match(response.headers.get('content-disposition') ?? '', /\.tar\.gz/)
        const archive = join(folder, 'a.tar.gz')
        await writeFile(archive, Buffer.from(await response.arrayBuffer()))
        const { stdout } = await run('tar', ['tzf', archive])
        assert.match(stdout, path === 'sub' ? /^sub\/dir\//m : /a\.txt$/m)
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('5 MiB can be saved, a byte more is 413; over 100 MB cannot be downloaded', async () => {
    const maxBytes = 5 * 1024 * 1024
    assert.equal((await save('big.txt', 'x'.repeat(maxBytes))).json.size, maxBytes)
    const over = await save('big.txt', 'x'.repeat(maxBytes + 1))
    assert.deepEqual([over.status, over.json.error], [413, 'file_too_large'])
    await inAgent('truncate -s 101M huge.bin')
    await inAgent('mkdir -p heap && truncate -s 60M heap/1 heap/2')
    for (const path of ['huge.bin', 'heap']) {
      const reply = await download(path)
      assert.deepEqual([reply.status, reply.json.error], [413, 'file_too_large'], path)
    }
    for (const path of ['huge.bin', 'heap', 'big.txt'])
      assert.equal((await files('DELETE', `?path=${path}`)).status, 200, path)
  })

  test('folders are created, deleted with their content, and not confused with files', async () => {
    const made = await files('POST', '/mkdir', { path: 'new/deep' })
    assert.deepEqual(made.json, { success: true, path: '/home/developer/new/deep' })
    assert.equal((await files('POST', '/mkdir', { path: 'a.txt' })).status, 409)
    assert.equal((await save('new', 'x')).status, 409)
    await save('new/deep/x.txt', 'x')
    assert.deepEqual((await files('DELETE', '?path=new')).json, {
      success: true,
      path: '/home/developer/new',
    })
    assert.equal((await files('DELETE', '?path=new')).status, 404)
  })

  test('a preview shows nothing that could run', async () => {
    await save('page.html', '<script>1</script>')
    await save('art.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
    for (const path of ['page.html', 'art.svg', 'a.txt']) {
      const reply = await files('GET', `/preview?path=${path}`)
      assert.match(reply.headers.get('content-type') ?? '', /^text\/plain/, path)
      assert.match(reply.headers.get('content-security-policy') ?? '', /sandbox/)
      assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
    }
  })

  test('the owner reads credentials, and nobody writes or deletes them by hand', async () => {
    await inAgent('echo A=1 > .env; mkdir -p .git; echo x > .git/config')
    assert.equal((await download('.env')).text, 'A=1\n')
    for (const path of [
      '.env',
      './.env',
      '.git/config',
      '.ssh/authorized_keys',
      '.mcp.json',
      '.roost/keys/x',
      '.credentials.enc',
      'sub/../.env',
    ])
      for (const reply of [await save(path, 'x'), await files('DELETE', `?path=${encodeURIComponent(path)}`)])
        assert.deepEqual([reply.status, reply.json.error], [403, 'protected_path'], path)
    assert.equal((await download('.env')).text, 'A=1\n')
  })
})

describe('folders of other agents', () => {
  const reader = `${name}-reader`
  const inReader = (script: string) => runInAgent(reader, script)
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await platform.request(method, `/api/agents/${path}`, body)
    assert.equal(reply.status, 200, reply.text)
    return reply.json
  }
  const restart = async () => {
    await ask('POST', `${reader}/stop`)
    return ask('POST', `${reader}/start`)
  }

  test('a reader gets a published folder after a restart, can write in it, and loses it with the permission', async () => {
    await createAgent(platform, reader)
    await save('shared-out/report.txt', 'first\n')
    await ask('PUT', `${name}/folders`, { expose_enabled: true })
    await ask('PUT', `${reader}/folders`, { consume_enabled: true })
    await ask('POST', `${reader}/permissions/${name}`)
    assert.equal((await ask('GET', `${reader}/folders`)).restart_required, true)
    assert.equal(await inReader('ls -A shared-in'), '')

    assert.equal((await restart()).recreate_reason, 'shared_folders')
    const path = `shared-in/${name}/report.txt`
    assert.equal(await inReader(`cat ${path}`), 'first')
    await save('shared-out/report.txt', 'second\n')
    assert.equal(await inReader(`cat /home/developer/${path}`), 'second', 'it is the folder, no copy of it')
    await inReader(`echo noted > shared-in/${name}/answer.txt`)
    assert.equal(await inAgent('cat shared-out/answer.txt'), 'noted', 'both work in it')
    assert.match(
      await inReader('touch shared-in/x'),
      /Read-only file system/,
      'nothing else can be created there',
    )
    const written = await platform.request('PUT', `/api/agents/${reader}/files?path=${path}`, {
      content: 'third\n',
    })
    assert.equal(written.status, 200, written.text)
    assert.equal(await inAgent('cat shared-out/report.txt'), 'third')

    await ask('DELETE', `${reader}/permissions/${name}`)
    const { consumed_folders, restart_required } = await ask('GET', `${reader}/folders`)
    assert.deepEqual([consumed_folders[0].after_restart, restart_required], ['gone', true])
    await restart()
    assert.equal(await inReader('ls -A shared-in'), '')
    assert.equal(await inAgent('cat shared-out/report.txt'), 'third')
  })
})

describe('the terminal', () => {
  const open = (token = platform.token) => openTerminal(platform, name, token)
  const processes = (pattern: string) => inAgent(`pgrep -cf "${pattern}" || true`)

  test('a real terminal: its user, size, keys and exit code; the audit log records it', async () => {
    const shell = await open()
    await shell.until('$ ')
    shell.socket.send('{"type":"resize","cols":101,"rows":31}')
    shell.type('stty size; whoami; pwd; env | grep -c "ROOST_AGENT_KEY\\|svc_mcp_"; tty | tr / :\n')
    assert.match(await shell.until(':dev:pts:'), /31 101\r\ndeveloper\r\n\/home\/developer\r\n0\r\n/)
    shell.type('sleep 600\n')
    await eventually(
      () => processes('^sleep 600'),
      (found) => found === '1',
    )
    shell.type('\u0003')
    await shell.until('$ ')
    shell.type('exit 7\n')
    assert.deepEqual(await shell.closed, { code: 1000, reason: 'exit 7' })
    const { entries } = await eventually(
      async () => (await platform.request('GET', '/api/audit-log?event_type=credentials')).json,
      (log) => log.entries.some((entry: Loose) => entry.event_action === 'open_terminal'),
    )
    const entry = entries.find((each: Loose) => each.event_action === 'open_terminal')
    assert.deepEqual([entry.target_id, entry.actor_type, entry.status], [name, 'user', 101])
  })

  test('an endless writer does not block the agent, and nothing of it remains afterwards', async () => {
    const [loud, other] = await Promise.all([open(), open()])
    loud.type('nohup sleep 601 & yes\n')
    await loud.until('y\r\ny\r\ny')
    assert.equal(await answerOf(platform, name, '[[reply:still here]]'), 'still here')
    loud.type('\u0003')
    await loud.until('^C')
    loud.socket.close()
    await eventually(
      () => processes('^(sleep 601|yes)$'),
      (found) => found === '0',
    )
    other.type('echo $((6 * 7))\n')
    await other.until('42\r\n')
    other.socket.close()
    await other.closed
  })

  test('a stopped agent closes its terminals with 4004, and opens none', async () => {
    const shell = await open()
    await shell.until('$ ')
    await platform.request('POST', `/api/agents/${name}/stop`)
    assert.equal((await shell.closed).code, 4004)
    assert.equal((await (await open()).closed).code, 4004)
    const started = await platform.request('POST', `/api/agents/${name}/start`)
    assert.equal(started.status, 200, started.text)
  })

  test('a key cannot open a terminal, whatever its scope', async () => {
    const { key } = (await platform.request('POST', '/api/mcp/keys', { name: 'mine', scope: 'user' })).json
    assert.equal((await (await open(key)).closed).code, 4003)
    assert.equal((await (await open('none')).closed).code, 4001)
  })
})

describe('SSH', () => {
  const access = (body?: object) => platform.request('POST', `/api/agents/${name}/ssh-access`, body)
  async function login(key: string, port: number, command: string): Promise<string> {
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'BatchMode=yes',
      'LogLevel=ERROR',
      'ConnectTimeout=30',
    ]
    const args = [...options.flatMap((each) => ['-o', each]), '-i', key, '-p', String(port)]
    return run('ssh', [...args, `developer@${sshHost}`, command]).then(
      ({ stdout }) => stdout.trim(),
      (error: { stderr: string }) => `refused: ${error.stderr}`,
    )
  }

  test('the key that is shown once logs in, as the developer in the workspace', async () => {
    const reply = await access()
    assert.equal(reply.status, 200, reply.text)
    const { status, auth_method, private_key, connection, expires_in_hours, expires_at } = reply.json
    assert.deepEqual(
      [status, auth_method, expires_in_hours, connection.user],
      ['granted', 'key', 4, 'developer'],
    )
    assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 4 * 3_600_000) < 60_000)
    const folder = await mkdtemp(join(tmpdir(), 'roost-ssh-'))
    try {
      const key = join(folder, 'key')
      await writeFile(key, private_key, { mode: 0o600 })
      assert.equal(await login(key, connection.port, 'whoami; pwd'), 'developer\n/home/developer')
      // A login sees none of the agent's secrets.
      assert.doesNotMatch(await login(key, connection.port, 'env'), /ROOST_|svc_mcp_/)
      const stranger = join(folder, 'stranger')
      await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', stranger])
      assert.match(await login(stranger, connection.port, 'whoami'), /^refused: .*Permission denied/)
      const public_key = await readFile(`${stranger}.pub`, 'utf8')
      const added = await access({ public_key, ttl_hours: 0.1 })
      assert.deepEqual([added.status, added.json.private_key], [200, undefined])
      assert.equal(await login(stranger, connection.port, 'whoami'), 'developer')
      assert.equal(await login(key, connection.port, 'whoami'), 'developer', 'the first key still works')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('invalid times and keys with options are refused, and the platform setting disables access', async () => {
    for (const body of [
      { ttl_hours: 0.05 },
      { ttl_hours: 25 },
      { public_key: 'command="x" ssh-ed25519 AAAA' },
    ])
      assert.equal((await access(body)).status, 422, JSON.stringify(body))
    const config = (value: boolean) =>
      platform.request('PUT', '/api/settings/ops/config', { settings: { ssh_access_enabled: value } })
    await config(false)
    const reply = await access()
    assert.deepEqual([reply.status, reply.json.error], [403, 'ssh_disabled'])
    await config(true)
  })
})

for (const [runtime, create] of [
  ['claude-code', {}],
  ['gemini-cli', { runtime: 'gemini-cli' }],
  ['codex', { template: 'codex-assistant' }],
] as const) {
  test(`read-only with ${runtime}: sources are protected, content can be written, people can still write`, async () => {
    const agent = `qa-ro-${runtime}`
    await createAgent(platform, agent, create)
    const path = `/api/agents/${agent}`
    const put = async (file: string, content: string) => {
      const reply = await platform.request('PUT', `${path}/files?path=${file}`, { content })
      assert.equal(reply.status, 200, reply.text)
    }
    const read = async (file: string) =>
      (await platform.request('GET', `${path}/files/download?path=${file}`)).text
    const tree = async () => (await platform.request('GET', `${path}/files?depth=3`)).text
    await put('main.py', 'orig\n')
    await put('src/app.ts', 'orig\n')
    const enabled = await platform.request('PUT', `${path}/read-only`, { enabled: true })
    assert.deepEqual([enabled.json.enabled, enabled.json.applied], [true, 'now'])
    const write = (file: string) =>
      JSON.stringify({ file_path: `/home/developer/${file}`, content: 'by the agent' })
    for (const attempt of [
      '[[tool:Bash:echo hacked > main.py; sed -i s/orig/hacked/ src/app.ts; echo x > new.py; rm -rf src; mv main.py m.py; chmod 777 main.py; echo hacked > main.py]]',
      "[[tool:Bash:python3 -c \"open('main.py','w').write('hacked')\"; ln -sf /home/developer/main.py content/link; echo hacked >> content/link]]",
      `[[tool:Write:${write('main.py')}]]`,
      `[[tool:Write:${write('src/fresh.ts')}]]`,
    ])
      await answerOf(platform, agent, `${attempt} [[reply:done]]`)
    assert.deepEqual([await read('main.py'), await read('src/app.ts')], ['orig\n', 'orig\n'])
    assert.doesNotMatch(await tree(), /new\.py|fresh\.ts|"m\.py"/)
    await answerOf(platform, agent, '[[tool:Bash:echo made > content/made.py]] [[reply:done]]')
    await answerOf(platform, agent, `[[tool:Write:${write('content/note.md')}]] [[reply:done]]`)
    assert.equal(await read('content/made.py'), 'made\n')
    assert.match(await read('content/note.md'), /^by the agent/)
    await put('main.py', 'by a person\n')
    await platform.request('PUT', `${path}/read-only`, { enabled: false })
    await answerOf(
      platform,
      agent,
      '[[tool:Bash:echo free > main.py; echo more >> content/made.py]] [[reply:done]]',
    )
    assert.deepEqual([await read('main.py'), await read('content/made.py')], ['free\n', 'made\nmore\n'])
    await platform.request('DELETE', path)
  })
}
