import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { McpServer } from '@roost/contracts/link/credentials'
import type { TurnPlace } from './places.ts'
import { serversOf } from './tool-servers.ts'

const visitor: TurnPlace = {
  user: { uid: 20_001, gid: 20_001, groups: [] },
  access: 'read',
  home: '/var/lib/roost/homes/20001',
  temporary: '/var/lib/roost/homes/20001/.tmp',
  state: '/var/lib/roost/homes/20001/.state',
  cwd: '/home/developer',
  credentials: false,
  isPrivate: true,
}
const dotenv = { API_KEY: 'of-the-owner', ROOM: 'attic', SHORT: 'x' }

function serversFor(servers: Record<string, McpServer>, over: Partial<TurnPlace> = {}) {
  return serversOf({ ...visitor, ...over }, '/tmp/turn', {
    home: '/home/developer',
    servers: async () => servers,
    environment: async (_, place) => ({
      PATH: '/usr/bin',
      HOME: place?.home ?? '/home/developer',
      TMPDIR: place?.temporary ?? '/home/developer/.tmp',
      ...((place?.credentials ?? true) ? dotenv : {}),
    }),
  })
}

/** A placeholder as in `.mcp.json`. */
const at = (name: string) => `\${${name}}`
const program = (over = {}) => ({ command: 'node', args: ['/home/developer/server.js'], ...over })
const http = (url: string, headers?: Record<string, string>): McpServer => ({
  type: 'http',
  url,
  ...(headers ? { headers } : {}),
})

test('a turn without credentials gets a connection, and the program gets the variables', async () => {
  const env = { TOKEN: at('API_KEY'), AREA: at('AREA:-north'), PLAIN: '$API_KEY', UNSET: at('UNSET') }
  const { servers, bridged, notices } = await serversFor({ first: program(), second: program({ env }) })
  assert.deepEqual(Object.keys(servers), ['first', 'second'])
  assert.match(JSON.stringify(servers.second), /\/tmp\/turn\/tools\/1"/)
  assert.doesNotMatch(JSON.stringify(servers), /of-the-owner|server\.js|TOKEN/)
  const own = { PATH: '/usr/bin', HOME: '/home/developer', TMPDIR: '/home/developer/.tmp', ...dotenv }
  assert.deepEqual(bridged, [
    { command: 'node', args: ['/home/developer/server.js'], env: own },
    {
      command: 'node',
      args: ['/home/developer/server.js'],
      env: { ...own, TOKEN: 'of-the-owner', AREA: 'north', PLAIN: '$API_KEY', UNSET: at('UNSET') },
    },
  ])
  assert.deepEqual(notices, [])
})

test('a turn with credentials gets the entries as they are', async () => {
  const entries = { first: program(), api: http('https://example.com/mcp', { Authorization: 'Bearer x' }) }
  assert.deepEqual(await serversFor(entries, { credentials: true }), {
    servers: entries,
    bridged: [],
    notices: [],
  })
})

test('a turn without the workspace, or of a user that is also the owner, gets none', async () => {
  const none = { servers: {}, bridged: [], notices: [] }
  assert.deepEqual(await serversFor({ first: program() }, { access: 'none' }), none)
  assert.deepEqual(await serversFor({ first: program() }, { isPrivate: false }), none)
})

test('a program whose files the turn may change is not run for it', async () => {
  const plain = http('https://example.com/mcp')
  const { servers, bridged, notices } = await serversFor({ first: program(), plain }, { access: 'write' })
  assert.deepEqual([servers, bridged], [{ plain }, []])
  assert.deepEqual(notices, [
    'Not offered here, because this turn may change the files that these tool servers run from: first.',
  ])
})

test('a command line with a credential is not started', async () => {
  const args = {
    placeholder: [`--as=${at('API_KEY')}`],
    fallback: [at('API_KEY:-none')],
    value: ['--as=of-the-owner'],
    option: ['--api-key', 'whatever'],
    token: ['-token=whatever'],
  }
  const secret = Object.fromEntries(
    Object.entries(args).map(([name, each]) => [name, program({ args: each })]),
  )
  // Values of a few characters occur in ordinary words.
  const fine = { home: program({ args: [`${at('HOME')}/x`] }), short: program({ args: ['-y', 'express'] }) }
  const { servers, bridged, notices } = await serversFor({ ...secret, ...fine })
  assert.deepEqual(Object.keys(servers), ['home', 'short'])
  assert.deepEqual(
    bridged.map((each) => each.args),
    [['/home/developer/x'], ['-y', 'express']],
  )
  assert.deepEqual(notices, [
    'Not offered here, because the address, headers or arguments may contain credentials: placeholder, fallback, value, option, token.',
  ])
})

test('an address with a credential is not offered', async () => {
  const secret = {
    headers: http('https://example.com/mcp', { Authorization: 'Bearer x' }),
    user: http('https://user:word@example.com/mcp'),
    query: http('https://example.com/mcp?key=x'),
    placeholder: http(`https://example.com/${at('API_KEY')}`),
    path: http('https://example.com/s/0123456789abcdef/mcp'),
    host: http('https://k3j4h5g6f7d8s9a0.example.com/mcp'),
  }
  const plain = http('https://api.example.com:8443/v2/model-context-protocol/mcp', {})
  const { servers, notices } = await serversFor({ ...secret, plain })
  assert.deepEqual(servers, { plain })
  assert.deepEqual(notices, [
    'Not offered here, because the address, headers or arguments may contain credentials: headers, user, query, placeholder, path, host.',
  ])
})
