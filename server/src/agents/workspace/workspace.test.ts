import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileChunkBytes, type LinkErrorCode } from '@roost/contracts/link/messages'
import type { FakeAnswers } from '../../ports/agent-link/fake.ts'
import { LinkDown, LinkFault } from '../../ports/agent-link/port.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'

const home = '/home/developer'

/** A workspace in memory that answers like the agent's program. */
function fakeWorkspace(files: Record<string, Buffer>, uploads = new Map<string, Buffer[]>()): FakeAnswers {
  const find = (path: string) => {
    const bytes = files[path]
    if (!bytes) throw new LinkFault({ code: 'file_not_found', message: 'inner words' })
    return bytes
  }
  const piece = (bytes: Buffer, offset: number, length: number) => ({
    data_base64: bytes.subarray(offset, offset + length).toString('base64'),
    size: bytes.length,
    eof: offset + length >= bytes.length,
  })
  const packed = Buffer.from('a packed folder')
  return {
    'fs.list': ({ path, depth, limit }) => ({
      tree: [{ name: `depth-${depth}-${limit}`, path: `${path}/x`, type: 'file', size: 1 }],
      total_files: 1,
      truncated: false,
    }),
    'fs.stat': ({ path }) =>
      Object.keys(files).some((file) => file.startsWith(`${path}/`)) || path === home
        ? { type: 'directory', size: 0, modified: '2030-01-01T00:00:00.000Z', mode: 0o755 }
        : { type: 'file', size: find(path).length, modified: '2030-01-01T00:00:00.000Z', mode: 0o644 },
    'fs.read': ({ path, offset, length }) => piece(find(path), offset, length),
    'fs.write': ({ path, upload_id, offset, data_base64, last, mode }) => {
      const before = Buffer.concat(uploads.get(upload_id) ?? [])
      if (before.length < offset) {
        uploads.delete(upload_id)
        throw new LinkFault({ code: 'invalid_message', message: 'inner words' })
      }
      const parts = [before.subarray(0, offset), Buffer.from(data_base64, 'base64')]
      uploads.set(upload_id, parts)
      if (last) uploads.delete(upload_id)
      if (last) files[mode === undefined ? path : `${path} ${mode.toString(8)}`] = Buffer.concat(parts)
      return { path, size: offset }
    },
    'fs.delete': ({ path }) => {
      find(path)
      delete files[path]
      return { path }
    },
    'fs.mkdir': ({ path }) => ({ path }),
    'fs.move': ({ from, to }) => {
      files[to] = find(from)
      delete files[from]
      return { path: to }
    },
    'fs.pack': () => ({ handle: 'h', size: packed.length }),
    'fs.read_pack': ({ offset, length }) => piece(packed, offset, length),
  }
}

async function open(files: Record<string, Buffer> = {}) {
  const uploads = new Map<string, Buffer[]>()
  const world = await openAgents(await openTestDatabase())
  const owner = await world.person()
  await world.request(owner.key, 'POST', '/api/agents', { name: 'helper' })
  const agent = await world.row('helper')
  world.link.link(agent.id, fakeWorkspace(files, uploads))
  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    world.request(owner.key, method, `/api/agents/helper/files${path}`, body, headers)
  return { ...world, owner, agent, call, files, uploads }
}

describe('the workspace', () => {
  test('200 the tree, with its defaults', async () => {
    await using world = await open()
    const { json } = await world.call('GET', '')
    assert.deepEqual(
      [json.base_path, json.requested_path, json.total_files, json.truncated],
      [home, home, 1, false],
    )
    assert.equal(json.tree[0].name, 'depth-1-5000')
    assert.equal((await world.call('GET', '?path=a/b&depth=3')).json.requested_path, `${home}/a/b`)
    assert.equal((await world.call('GET', '?depth=11')).status, 422)
  })

  test('422 for a path that no file system accepts, before the agent is called', async () => {
    await using world = await open()
    const long = (name: string) => world.call('GET', `?path=${encodeURIComponent(name)}`)
    assert.equal((await long('x'.repeat(255))).status, 200)
    assert.equal((await long(`a/${'x'.repeat(255)}/${'ü'.repeat(127)}`)).status, 200)
    for (const name of ['x'.repeat(256), `a/${'ü'.repeat(128)}`, 'ü/'.repeat(1334)]) {
      const { status, json } = await long(name)
      assert.deepEqual(
        [status, json.error, json.detail[0]?.loc],
        [422, 'validation_error', ['query', 'path']],
      )
    }
  })

  test('200 a saved file has exactly its bytes, for every length', async () => {
    await using world = await open()
    for (const content of ['', 'é', 'x'.repeat(fileChunkBytes), 'ü'.repeat(fileChunkBytes)]) {
      const reply = await world.call('PUT', '?path=notes/a.txt', { content })
      assert.deepEqual(
        [reply.status, reply.json.path, reply.json.size],
        [200, `${home}/notes/a.txt`, Buffer.byteLength(content)],
      )
      assert.equal(world.files[`${home}/notes/a.txt`]?.toString(), content)
    }
    const largest = await world.call('PUT', '?path=big', { content: 'x'.repeat(5 * 1024 * 1024) })
    assert.equal(largest.status, 200)
    const tooLarge = await world.call('PUT', '?path=big', { content: 'x'.repeat(5 * 1024 * 1024 + 1) })
    assert.deepEqual([tooLarge.status, tooLarge.json.error], [413, 'file_too_large'])
  })

  test('200 an uploaded file has exactly its bytes, for every length and way to send them', async () => {
    await using world = await open()
    const bytesOf = (length: number) => Buffer.from(Array.from({ length }, (_, index) => index % 256))
    const binary = { 'content-type': 'application/octet-stream' }
    for (const length of [
      0,
      1,
      fileChunkBytes - 1,
      fileChunkBytes,
      2 * fileChunkBytes,
      2 * fileChunkBytes + 1,
    ]) {
      const bytes = bytesOf(length)
      const reply = await world.call('PUT', '/upload?path=data/a.bin', bytes, binary)
      assert.deepEqual(
        [reply.status, reply.json.path, reply.json.size],
        [200, `${home}/data/a.bin`, length],
        JSON.stringify(reply.json),
      )
      assert.ok(world.files[`${home}/data/a.bin`]?.equals(bytes), `${length} bytes`)
    }
    await world.call('PUT', '/upload?path=run&executable=true', bytesOf(3), binary)
    assert.deepEqual(world.files[`${home}/run 755`], bytesOf(3))
  })

  test('an upload is refused like a saved file, and 413 above 100 MB leaves nothing behind', async () => {
    await using world = await open()
    const binary = { 'content-type': 'application/octet-stream' }
    const put = (path: string, body: Buffer = Buffer.from('x')) =>
      world.call('PUT', `/upload?path=${encodeURIComponent(path)}`, body, binary)
    for (const path of ['../a', '.git/config', '.ssh/authorized_keys', '.env', '.roost/keys/x'])
      assert.equal((await put(path)).json.error, 'protected_path', path)
    const tooLarge = await put('big', Buffer.alloc(100 * 1024 * 1024 + 1))
    assert.deepEqual([tooLarge.status, tooLarge.json.error], [413, 'file_too_large'])
    assert.deepEqual([world.files, world.uploads.size], [{}, 0])
  })

  test('200 an upload in parts appears after the last one; 409 when its beginning is lost', async () => {
    await using world = await open()
    const binary = { 'content-type': 'application/octet-stream' }
    const upload = 'abcdefgh-01234567'
    const put = (query: string, body: string) =>
      world.call('PUT', `/upload?path=big.bin${query}`, Buffer.from(body), binary)
    const first = await put(`&upload=${upload}&complete=false`, 'first ')
    assert.deepEqual([first.status, first.json.size], [200, 6])
    assert.deepEqual(world.files, {})
    // A client without a response sends the part again.
    assert.equal((await put(`&upload=${upload}&offset=6&complete=false`, 'second ')).json.size, 13)
    assert.equal((await put(`&upload=${upload}&offset=6&complete=false`, 'second ')).json.size, 13)
    assert.equal((await put(`&upload=${upload}&offset=13`, 'third')).json.size, 18)
    assert.equal(world.files[`${home}/big.bin`]?.toString(), 'first second third')
    const lost = await put('&upload=another-upload-id&offset=6', 'second')
    assert.deepEqual([lost.status, lost.json.error], [409, 'upload_expired'])
    const tooLarge = await put(`&upload=${upload}&offset=104857600`, 'x')
    assert.deepEqual([tooLarge.status, tooLarge.json.error], [413, 'file_too_large'])
    for (const query of ['&offset=6', '&complete=false', '&upload=short'])
      assert.equal((await put(query, 'x')).json.error, 'validation_error', query)
  })

  test('200 a file is moved, but never over another or over a protected one', async () => {
    await using world = await open({
      [`${home}/a.pdf`]: Buffer.from('a'),
      [`${home}/b.pdf`]: Buffer.from('b'),
    })
    const move = (from: string, to: string) => world.call('POST', '/move', { from, to })
    const taken = await move('a.pdf', 'b.pdf')
    assert.deepEqual([taken.status, taken.json.error], [409, 'already_exists'])
    const moved = await move('a.pdf', 'docs/c.pdf')
    assert.deepEqual([moved.status, moved.json.path], [200, `${home}/docs/c.pdf`])
    assert.deepEqual(Object.keys(world.files), [`${home}/b.pdf`, `${home}/docs/c.pdf`])
    assert.equal((await move('a.pdf', 'd.pdf')).json.error, 'file_not_found')
    for (const [from, to] of [
      ['b.pdf', '.git/hooks/post-checkout'],
      ['.env', 'x'],
      ['b.pdf', '../x'],
      ['.', 'x'],
    ] as const)
      assert.equal((await move(from, to)).json.error, 'protected_path', `${from} to ${to}`)
    world.link.link(world.agent.id, {
      ...fakeWorkspace(world.files),
      'fs.move': () => {
        throw new LinkFault({ code: 'unknown_message', message: 'inner words' })
      },
    })
    assert.equal((await move('b.pdf', 'd.pdf')).json.error, 'agent_program_outdated')
  })

  test('people do not share an upload', async () => {
    await using world = await open()
    const binary = { 'content-type': 'application/octet-stream' }
    const admin = await world.person('admin')
    const put = (key: string, query: string, body: string) =>
      world.request(
        key,
        'PUT',
        `/api/agents/helper/files/upload?path=a&upload=abcdefgh-01234567${query}`,
        Buffer.from(body),
        binary,
      )
    await put(world.owner.key, '&complete=false', 'mine ')
    const other = await put(admin.key, '&offset=5', 'theirs')
    assert.deepEqual([other.status, other.json.error], [409, 'upload_expired'])
    assert.equal((await put(world.owner.key, '&offset=5', 'too')).status, 200)
    assert.equal(world.files[`${home}/a`]?.toString(), 'mine too')
  })

  test('200 a download returns the bytes as an attachment; a range returns a part', async () => {
    const bytes = Buffer.from(Array.from({ length: 3 * fileChunkBytes + 7 }, (_, index) => index % 251))
    await using world = await open({ [`${home}/data é.bin`]: bytes, [`${home}/empty`]: Buffer.alloc(0) })
    const path = `/download?path=${encodeURIComponent('data é.bin')}`
    const whole = await world.call('GET', path)
    assert.equal(whole.status, 200)
    assert.deepEqual(whole.bytes, bytes)
    assert.equal(whole.headers['content-type'], 'application/octet-stream')
    assert.equal(whole.headers['x-content-type-options'], 'nosniff')
    assert.match(String(whole.headers['content-disposition']), /^attachment; .*data%20%C3%A9\.bin$/)
    const part = await world.call('GET', path, undefined, { range: 'bytes=5-262150' })
    assert.equal(part.status, 206)
    assert.deepEqual(part.bytes, bytes.subarray(5, 262_151))
    assert.equal(part.headers['content-range'], `bytes 5-262150/${bytes.length}`)
    const outside = await world.call('GET', path, undefined, { range: 'bytes=9999999-' })
    assert.deepEqual([outside.status, outside.headers['content-range']], [416, `bytes */${bytes.length}`])
    assert.equal((await world.call('GET', '/download?path=empty')).bytes.length, 0)
  })

  test('200 a directory is downloaded as an archive', async () => {
    await using world = await open({ [`${home}/folder/a`]: Buffer.from('a') })
    const reply = await world.call('GET', '/download?path=folder')
    assert.equal(reply.headers['content-type'], 'application/gzip')
    assert.match(String(reply.headers['content-disposition']), /folder\.tar\.gz/)
    assert.equal(reply.bytes.toString(), 'a packed folder')
    assert.equal((await world.call('GET', '/preview?path=folder')).status, 404)
  })

  test('200 a preview cannot execute anything', async () => {
    await using world = await open({
      [`${home}/page.html`]: Buffer.from('<script>1</script>'),
      [`${home}/a.png`]: Buffer.from('png'),
      [`${home}/a.exe`]: Buffer.from('MZ'),
    })
    const html = await world.call('GET', '/preview?path=page.html')
    assert.equal(html.headers['content-type'], 'text/plain; charset=utf-8')
    assert.match(String(html.headers['content-security-policy']), /^sandbox; default-src 'none'/)
    assert.match(String(html.headers['content-disposition']), /^inline/)
    assert.equal((await world.call('GET', '/preview?path=a.png')).headers['content-type'], 'image/png')
    const exe = await world.call('GET', '/preview?path=a.exe')
    assert.match(String(exe.headers['content-disposition']), /^attachment/)
  })

  test('413 file_too_large before anything is read', async () => {
    await using world = await open()
    world.link.link(world.agent.id, {
      'fs.stat': () => ({ type: 'file', size: 100 * 1024 * 1024 + 1, modified: 'x', mode: 0 }),
    })
    const reply = await world.call('GET', '/download?path=huge')
    assert.deepEqual([reply.status, reply.json.error], [413, 'file_too_large'])
  })

  test('200 delete and mkdir; 404 for missing files', async () => {
    await using world = await open({ [`${home}/a`]: Buffer.from('a') })
    assert.deepEqual((await world.call('DELETE', '?path=a')).json, { success: true, path: `${home}/a` })
    assert.deepEqual((await world.call('DELETE', '?path=a')).json.error, 'file_not_found')
    assert.deepEqual((await world.call('POST', '/mkdir', { path: 'b/c' })).json.path, `${home}/b/c`)
  })

  test('403 protected_path never calls the agent', async () => {
    await using world = await open()
    const before = world.link.calls.length
    for (const [method, path, body] of [
      ['GET', '?path=../..'],
      ['GET', '/download?path=%2e%2e%2f%2e%2e%2fetc%2fpasswd'],
      ['GET', '/preview?path=/etc/passwd'],
      ['PUT', '?path=/etc/cron.d/x', { content: 'x' }],
      ['PUT', '?path=.env', { content: 'x' }],
      ['DELETE', '?path=.git/config'],
      ['DELETE', '?path=/home/developer'],
      ['DELETE', '?path=.roost'],
      ['POST', '/mkdir', { path: '.ssh/x' }],
      ['POST', '/mkdir', { path: '..' }],
    ] as const) {
      const reply = await world.call(method, path, body)
      assert.deepEqual([reply.status, reply.json.error], [403, 'protected_path'], `${method} ${path}`)
    }
    assert.equal(world.link.calls.length, before)
  })

  test('403 protected_path: credentials for people the agent is shared with', async () => {
    await using world = await open({ [`${home}/.env`]: Buffer.from('A=1'), [`${home}/x/y`]: Buffer.from('') })
    const guest = await world.person('user')
    await world.db.atomically(async (tx) => {
      const share = { agent_id: world.agent.id, email: guest.email ?? '', id: 's', shared_by_id: 'x' }
      await tx
        .withTables<{ agent_shares: Record<string, string> }>()
        .insertInto('agent_shares')
        .values({ ...share, created_at: 'now' })
        .execute()
      world.area.agentRecords.changed(tx, world.agent.id)
    })
    const guests = async (path: string) =>
      (await world.request(guest.key, 'GET', `/api/agents/helper/files/download?path=${path}`)).status
    assert.equal(await guests('.env'), 403)
    assert.equal(await guests('./x/../.env'), 403)
    assert.equal(await guests('.'), 403)
    assert.equal(await guests('x'), 200)
    assert.equal((await world.call('GET', '/download?path=.env')).bytes.toString(), 'A=1')
  })

  for (const [code, status, error] of [
    ['file_not_found', 404, 'file_not_found'],
    ['protected_path', 403, 'protected_path'],
    ['file_too_large', 413, 'file_too_large'],
    ['not_a_directory', 409, 'conflict'],
    ['not_a_file', 409, 'conflict'],
    ['io_error', 409, 'conflict'],
    ['unknown_message', 504, 'agent_unresponsive'],
  ] as const satisfies readonly (readonly [LinkErrorCode, number, string])[]) {
    test(`${status} ${error} when the agent returns ${code}, without its message`, async () => {
      await using world = await open()
      world.link.link(world.agent.id, {
        'fs.list': () => {
          throw new LinkFault({ code, message: 'inner words' })
        },
      })
      const reply = await world.call('GET', '?path=a')
      assert.deepEqual([reply.status, reply.json.error], [status, error])
      assert.doesNotMatch(reply.json.detail, /inner words/)
    })
  }

  test('409 agent_stopped; 504 when the agent does not answer', async () => {
    await using world = await open()
    world.link.link(world.agent.id, {
      'fs.list': () => {
        throw new LinkDown()
      },
    })
    assert.equal((await world.call('GET', '')).json.error, 'agent_unresponsive')
    await world.request(world.owner.key, 'POST', '/api/agents/helper/stop')
    const reply = await world.call('GET', '')
    assert.deepEqual([reply.status, reply.json.error], [409, 'agent_stopped'])
  })

  test('a call to a running agent waits a limited time for its link', async () => {
    await using world = await open({ [`${home}/a`]: Buffer.from('a') })
    world.link.unlink(world.agent.id)
    const reply = world.call('GET', '/download?path=a')
    await world.clock.waitingFor(0.05)
    world.link.link(world.agent.id, fakeWorkspace(world.files))
    await world.clock.advance(0.1)
    assert.equal((await reply).status, 200)
    world.link.unlink(world.agent.id)
    const never = world.call('GET', '')
    await world.clock.waitingFor(0.05)
    await world.clock.advance(30)
    assert.equal((await never).json.error, 'agent_unresponsive')
  })
})
