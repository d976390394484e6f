/** Every invalid request gets its own status and a sentence that names the problem, and changes nothing. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { docker, runInAgent } from './steps.ts'

let platform: Platform
before(async () => {
  platform = await startPlatform()
  const reply = await platform.request('POST', '/api/agents', { name: 'victim' })
  assert.equal(reply.status, 200, reply.text)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

type Case = [
  what: string,
  method: string,
  path: string,
  body: unknown,
  status: number,
  error: string,
  names?: RegExp,
]

function cases(list: Case[]): void {
  for (const [what, method, path, body, status, error, names] of list) {
    test(`${status} ${error}: ${what}`, async () => {
      const reply = await platform.request(method, path, body)
      assert.equal(reply.status, status, reply.text)
      assert.equal(reply.json.error, error, reply.text)
      assert.ok(reply.json.detail, 'a sentence')
      if (names) assert.match(reply.text, names)
    })
  }
}

/** The case of a field with an invalid value. */
function invalid(what: string, method: string, path: string, body: unknown, names: RegExp): Case {
  return [what, method, path, body, 422, 'validation_error', names]
}

const agents = '/api/agents'
const victim = '/api/agents/victim'
const chat = `${victim}/chat`
const files = `${victim}/files`

describe('bodies', () => {
  cases([
    ['cut JSON', 'POST', agents, '{"name":', 422, 'invalid_json'],
    ['a form instead of JSON', 'POST', agents, 'name=x', 422, 'invalid_json'],
    invalid('an array instead of an object', 'POST', agents, [], /"body"/),
    invalid('a missing field', 'POST', agents, {}, /"name"/),
    invalid('a number for a string', 'POST', agents, { name: 5 }, /"name"/),
    invalid('null for a required field', 'POST', chat, { message: null }, /"message"/),
    invalid('an empty message', 'POST', chat, { message: '' }, /"message"/),
    invalid(
      'a message above 100,000 characters',
      'POST',
      chat,
      { message: 'x'.repeat(100_001) },
      /"message"/,
    ),
    invalid('U+0000', 'POST', chat, { message: 'a\0b' }, /"message"/),
    ['a body above 1 MiB', 'PUT', `${victim}/label`, { label: 'x'.repeat(1_100_000) }, 413, 'body_too_large'],
    invalid('an unknown key in a strict body', 'PUT', `${victim}/label`, { label: 'a', extra: 1 }, /extra/),
    invalid('a label without its key', 'PUT', `${victim}/label`, {}, /"label"/),
  ])
})

describe('agents', () => {
  cases([
    invalid('capitals in a name', 'POST', agents, { name: 'Upper' }, /"name"/),
    invalid('a name with a slash', 'POST', agents, { name: 'a/b' }, /"name"/),
    invalid('a path traversal as a name', 'POST', agents, { name: '..' }, /"name"/),
    invalid('a name of 64 characters', 'POST', agents, { name: 'a'.repeat(64) }, /"name"/),
    [
      'a reserved name',
      'POST',
      agents,
      { name: 'context-stats' },
      422,
      'reserved_agent_name',
      /context-stats/,
    ],
    ['a reserved prefix', 'POST', agents, { name: 'roost-x' }, 422, 'reserved_agent_name', /roost-/],
    ['a name in use', 'POST', agents, { name: 'victim' }, 409, 'agent_exists', /victim/],
    invalid('an unknown runtime', 'POST', agents, { name: 'bad-a', runtime: 'vim' }, /"runtime"/),
    invalid('codex without a template', 'POST', agents, { name: 'bad-a', runtime: 'codex' }, /"runtime"/),
    [
      'an unknown model',
      'POST',
      agents,
      { name: 'bad-a', runtime_model: 'llama' },
      422,
      'invalid_model',
      /llama/,
    ],
    [
      'an unknown template',
      'POST',
      agents,
      { name: 'bad-a', template: 'no-such' },
      400,
      'template_unresolvable',
      /no-such/,
    ],
    invalid(
      'an unsupported CPU count',
      'POST',
      agents,
      { name: 'bad-a', resources: { cpu: '3', memory: '4g' } },
      /"cpu"/,
    ),
    invalid(
      'memory outside the range',
      'POST',
      agents,
      { name: 'bad-a', resources: { cpu: '2', memory: '64g' } },
      /"memory"/,
    ),
    ['an unknown agent', 'GET', '/api/agents/ghost', undefined, 404, 'agent_not_found', /ghost/],
    [
      'chat with an unknown agent',
      'POST',
      '/api/agents/ghost/chat',
      { message: 'hi' },
      404,
      'agent_not_found',
    ],
    [
      'an encoded path traversal as a name',
      'GET',
      '/api/agents/..%2f..%2fetc',
      undefined,
      404,
      'agent_not_found',
    ],
    invalid('its current name', 'PUT', `${victim}/rename`, { new_name: 'victim' }, /new_name/),
    invalid(
      'a timeout below the range',
      'PUT',
      `${victim}/timeout`,
      { execution_timeout_seconds: 59 },
      /execution_timeout_seconds/,
    ),
    invalid(
      'a timeout above the range',
      'PUT',
      `${victim}/timeout`,
      { execution_timeout_seconds: 7201 },
      /execution_timeout_seconds/,
    ),
    invalid(
      'a ceiling outside the range',
      'PUT',
      '/api/settings/max-parallel-tasks-ceiling',
      { value: 33 },
      /"value"/,
    ),
    invalid('text for a boolean', 'PUT', `${victim}/autonomy`, { enabled: 'yes' }, /"enabled"/),
    invalid('text for a number', 'GET', `${victim}/logs?tail=many`, undefined, /"tail"/),
    invalid('a tail outside the range', 'GET', `${victim}/logs?tail=0`, undefined, /"tail"/),
    [
      'an unknown execution',
      'GET',
      '/api/agents/victim/executions/nope',
      undefined,
      404,
      'execution_not_found',
    ],
    [
      'an unknown session',
      'GET',
      '/api/agents/victim/chat/sessions/nope',
      undefined,
      404,
      'session_not_found',
    ],
  ])

  test('no invalid request left an agent, a container or a volume', async () => {
    const { json } = await platform.request('GET', agents)
    assert.deepEqual(
      json.filter((agent: Loose) => !agent.is_system).map((agent: Loose) => agent.name),
      ['victim'],
    )
    for (const kind of ['container', 'volume']) {
      const names = await docker(kind, 'ls', kind === 'container' ? '-a' : '-q')
      assert.match(names, /agent-victim/)
      assert.doesNotMatch(names, /agent-bad-/)
    }
  })
})

describe('paths in the workspace', () => {
  cases([
    ['path traversal', 'GET', `${files}?path=../../etc`, undefined, 403, 'protected_path'],
    [
      'an absolute path outside',
      'GET',
      `${files}/download?path=/etc/passwd`,
      undefined,
      403,
      'protected_path',
    ],
    [
      'an encoded path traversal',
      'GET',
      `${files}/download?path=%2e%2e%2f%2e%2e%2fetc%2fpasswd`,
      undefined,
      403,
      'protected_path',
    ],
    ['writing outside', 'PUT', `${files}?path=/etc/cron.d/x`, { content: 'x' }, 403, 'protected_path'],
    ['writing a protected file', 'PUT', `${files}?path=.env`, { content: 'A=1' }, 403, 'protected_path'],
    ['deleting a protected file', 'DELETE', `${files}?path=.git/config`, undefined, 403, 'protected_path'],
    ['deleting the home itself', 'DELETE', `${files}?path=/home/developer`, undefined, 403, 'protected_path'],
    ['a missing file', 'GET', `${files}/download?path=nowhere.txt`, undefined, 404, 'file_not_found'],
    invalid('a missing path', 'PUT', files, { content: 'x' }, /"path"/),
  ])

  test('403 protected_path for reading and writing through a link that leads outside', async () => {
    await runInAgent('victim', 'ln -s /etc /home/developer/way-out')
    assert.equal(
      (await platform.request('GET', `${files}/download?path=way-out/passwd`)).json.error,
      'protected_path',
    )
    assert.equal(
      (await platform.request('PUT', `${files}?path=way-out/x`, { content: 'x' })).json.error,
      'protected_path',
    )
  })
})

describe('attachments', () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const file = (overrides: object) => ({
    name: 'a.txt',
    mimetype: 'text/plain',
    size: 2,
    data_base64: 'aGk=',
    ...overrides,
  })
  cases([
    [
      'four files',
      'POST',
      chat,
      { message: 'x', files: [file({}), file({}), file({}), file({})] },
      422,
      'attachment_rejected',
    ],
    [
      'a PDF',
      'POST',
      chat,
      { message: 'x', files: [file({ name: 'a.pdf', mimetype: 'application/pdf' })] },
      422,
      'attachment_rejected',
      /a\.pdf/,
    ],
    [
      'bad base64',
      'POST',
      chat,
      { message: 'x', files: [file({ data_base64: '***' })] },
      422,
      'attachment_rejected',
      /a\.txt/,
    ],
    [
      'a PNG declared as text',
      'POST',
      chat,
      { message: 'x', files: [file({ data_base64: png })] },
      422,
      'attachment_rejected',
      /a\.txt/,
    ],
    [
      'text declared as a PNG',
      'POST',
      chat,
      { message: 'x', files: [file({ name: 'a.png', mimetype: 'image/png' })] },
      422,
      'attachment_rejected',
      /a\.png/,
    ],
    [
      'a file above 5 MB',
      'POST',
      chat,
      {
        message: 'x',
        files: [file({ size: 6_000_000, data_base64: Buffer.alloc(6_000_000, 97).toString('base64') })],
      },
      413,
      'attachment_too_large',
      /a\.txt/,
    ],
    ['an unknown model', 'POST', chat, { message: 'x', model: 'llama-3' }, 422, 'invalid_model', /llama-3/],
  ])

  test('no invalid request left an execution or an unanswered message', async () => {
    assert.deepEqual((await platform.request('GET', '/api/agents/victim/executions')).json, [])
    assert.deepEqual(
      (await platform.request('GET', '/api/agents/victim/chat/history/persistent')).json.messages,
      [],
    )
  })
})

describe('credentials', () => {
  for (const [what, authorization] of [
    ['no token', undefined],
    ['an empty bearer', 'Bearer '],
    ['another scheme', 'Basic YWRtaW46eA=='],
    ['nonsense', 'Bearer nonsense'],
    ['an unknown key', `Bearer svc_mcp_${'a'.repeat(43)}`],
    [
      'an unsigned token',
      `Bearer ${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${Buffer.from('{"sub":"admin","exp":9999999999}').toString('base64url')}.`,
    ],
  ] as const) {
    test(`401: ${what}`, async () => {
      const reply = await platform.request('GET', agents, undefined, {
        token: null,
        headers: authorization ? { authorization } : {},
      })
      assert.equal(reply.status, 401)
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer')
      assert.ok(['not_authenticated', 'invalid_token'].includes(reply.json.error))
    })
  }

  test('401 for the wrong password, and 422 for JSON instead of a form', async () => {
    const wrong = await fetch(`${platform.url}/api/token`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'admin', password: 'no' }),
    })
    assert.equal(wrong.status, 401)
    const json = await platform.request('POST', '/api/token', { username: 'admin', password: 'no' })
    assert.equal(json.status, 422)
  })

  test('401 immediately after logout', async () => {
    const token = await signIn(platform)
    assert.equal((await platform.request('POST', '/api/auth/logout', undefined, { token })).status, 200)
    assert.equal((await platform.request('GET', '/api/auth/validate', undefined, { token })).status, 401)
  })
})
