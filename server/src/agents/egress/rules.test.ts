import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDotenv } from '@roost/contracts/kit/dotenv'
import { secret } from '../../kit/secret.ts'
import { valuesIn, withPlaceholders } from './env-rules.ts'
import { createMask, maskText } from './mask.ts'
import { type Bound, isListed, judge, normalizeHosts, parseTarget } from './rules.ts'
import { substitute } from './substitute.ts'

const bound = (over: Partial<Bound> = {}): Bound => ({
  name: 'TOKEN',
  hosts: [{ host: 'api.example.com', port: 443 }],
  places: ['header'],
  placeholder: 'roost-placeholder-one',
  value: secret('real/va+lue'),
  ...over,
})

test('targets are normalized, and odd spellings of an address become the address', () => {
  for (const [text, expected] of [
    ['API.Example.COM:443', { host: 'api.example.com', port: 443 }],
    ['api.example.com.:8443', { host: 'api.example.com', port: 8443 }],
    ['0x7f.1:80', { host: '127.0.0.1', port: 80 }],
    ['2130706433:80', { host: '127.0.0.1', port: 80 }],
    ['0177.0.0.1:80', { host: '127.0.0.1', port: 80 }],
    ['[::FFFF:127.0.0.1]:443', { host: '::ffff:7f00:1', port: 443 }],
    ['１２７.0.0.1:443', { host: '127.0.0.1', port: 443 }],
  ] as const) {
    assert.deepEqual(parseTarget(text), expected, text)
  }
  for (const text of ['', 'host', 'host:0', 'host:65536', 'a b:1', 'u@host:1', 'host/x:1', ':1', 'h#:1'])
    assert.equal(parseTarget(text), null, text)
})

test('a rule applies to its host and port; without a port to 80 and 443; a star to all subdomains', () => {
  const rules = [
    { host: 'a.example.com', port: null },
    { host: 'b.example.com', port: 22 },
    { host: '*.wild.example.com', port: null },
  ]
  const listed = (host: string, port: number) => isListed(rules, { host, port })
  assert.deepEqual(
    [listed('a.example.com', 443), listed('a.example.com', 80), listed('a.example.com', 22)],
    [true, true, false],
  )
  assert.deepEqual([listed('b.example.com', 22), listed('b.example.com', 443)], [true, false])
  assert.deepEqual(
    [
      listed('x.y.wild.example.com', 443),
      listed('wild.example.com', 443),
      listed('evilwild.example.com', 443),
      listed('xa.example.com', 443),
    ],
    [true, false, false, false],
  )
})

test('judging order: bound hosts, then rules, then the mode', () => {
  const target = { host: 'api.example.com', port: 443 }
  const policy = { rules: [], bound: [bound()] }
  assert.equal(judge({ mode: 'enforce', ...policy }, target).reason, 'credential')
  assert.equal(judge({ mode: 'enforce', ...policy }, { ...target, port: 80 }).reason, 'not_listed')
  assert.equal(judge({ mode: 'learn', rules: [], bound: [] }, target).reason, 'learnt')
  const listed = { mode: 'enforce' as const, rules: [{ host: 'api.example.com', port: null }], bound: [] }
  assert.equal(judge(listed, target).decision, 'allowed')
  assert.equal(judge(listed, { host: 'other.example.com', port: 443 }).decision, 'denied')
})

test('hosts are stored once, normalized', () => {
  assert.deepEqual(normalizeHosts(['API.example.com', 'api.example.com:443', 'b.example.com:8443']), [
    'api.example.com',
    'b.example.com:8443',
  ])
})

test('placeholders are replaced in headers and Basic credentials, and in the query only if configured', () => {
  const basic = Buffer.from('me:roost-placeholder-one').toString('base64')
  const headers: [string, string][] = [
    ['Authorization', 'Bearer roost-placeholder-one'],
    ['X-Other', 'roost-placeholder-two'],
    ['Proxy', `Basic ${basic}`],
  ]
  const sent = substitute(headers, '/p/roost-placeholder-one?k=roost-placeholder-one', [bound()])
  assert.deepEqual(sent.headers, [
    ['Authorization', 'Bearer real/va+lue'],
    ['X-Other', 'roost-placeholder-two'],
    ['Proxy', `Basic ${Buffer.from('me:real/va+lue').toString('base64')}`],
  ])
  assert.equal(sent.path, '/p/roost-placeholder-one?k=roost-placeholder-one')
  assert.deepEqual(sent.used, ['TOKEN'])
  assert.ok(sent.secrets.includes('real/va+lue'))
  const query = substitute([], '/p/roost-placeholder-one?k=roost-placeholder-one', [
    bound({ places: ['header', 'query'] }),
  ])
  assert.equal(query.path, '/p/roost-placeholder-one?k=real%2Fva%2Blue')
})

test('a value is sent as it is stored, whatever characters it has', () => {
  const value = secret("pa$$word $& $` $'")
  const { headers } = substitute([['X', 'roost-placeholder-one']], '/', [bound({ value })])
  assert.deepEqual(headers, [['X', value.reveal()]])
})

test('a secret is masked however the stream is split, and everything else passes unchanged', async () => {
  const text = 'a secret-one b secret-two secret-on c secret-onesecret-one se'
  // Up to three bytes of a secret that arrives in pieces may already have been sent.
  const expected = /^a (s?e?c?\*{7,10}) b (s?e?c?\*{7,10}) secret-on c (s?e?c?\*{7,10}){2} se$/
  for (let cut = 1; cut <= text.length; cut += 1) {
    const mask = createMask(['secret-one', 'secret-two'])
    for (let at = 0; at < text.length; at += cut) mask.write(Buffer.from(text.slice(at, at + cut)))
    mask.end()
    const masked = Buffer.concat(await mask.toArray()).toString()
    assert.match(masked, expected, `cut ${cut}`)
    assert.equal(masked.length, text.length)
  }
  assert.equal(maskText('x secret-one', ['secret-one']), 'x **********')
})

test('of secrets that overlap, every byte is masked', async () => {
  const secrets = ['aaaabbbb', 'bbbbcccc']
  assert.equal(maskText('x aaaabbbbcccc', secrets), `x ${'*'.repeat(12)}`)
  const mask = createMask(secrets)
  mask.end(Buffer.from('aaaabbbbcccc é'))
  assert.equal(Buffer.concat(await mask.toArray()).toString(), `${'*'.repeat(12)} é`)
})

test('bytes that cannot start a secret pass immediately', () => {
  const mask = createMask(['secret-one'])
  mask.write(Buffer.from('data: 1\n\n'))
  assert.equal(mask.read()?.toString(), 'data: 1\n\n')
  mask.write(Buffer.from('sec'))
  assert.equal(mask.read()?.toString(), 'sec')
})

test('a .env contains placeholders for bound variables, and everything else stays as written', () => {
  const variables = [
    { name: 'TOKEN', placeholder: 'roost-placeholder-t', hasValue: true },
    { name: 'NEW', placeholder: 'roost-placeholder-n', hasValue: true },
    { name: 'LATER', placeholder: 'roost-placeholder-l', hasValue: false },
  ]
  const before = [
    '# keys',
    'export TOKEN="real-value" # mine',
    "OTHER='it is'",
    'GONE=roost-placeholder-g',
    'URL=https://u:real-value@h',
    'LATER=soon',
  ].join('\n')
  assert.equal(
    withPlaceholders(before, variables, new Map([['TOKEN', 'real-value']])),
    [
      '# keys',
      'export TOKEN=roost-placeholder-t # mine',
      "OTHER='it is'",
      'GONE=',
      'URL=https://u:roost-placeholder-t@h',
      'LATER=soon',
      'NEW=roost-placeholder-n',
      '',
    ].join('\n'),
  )
  assert.equal(withPlaceholders('A=1\n', [], new Map()), 'A=1\n')
})

test('the platform extracts exactly the values that the agent would read', () => {
  const text = [
    '\uFEFF# keys',
    "export A='first value' # one",
    'B="two\\tand\\\\" # "three"',
    'C= # no value',
    'D=old',
    'D=new # last',
    'E="line 1',
    'F=inside"',
  ].join('\r\n')
  const names = ['A', 'B', 'C', 'D', 'E', 'F']
  const values = valuesIn(text, new Set(names))
  const read = Object.entries(parseDotenv(text)).filter(([, value]) => value !== '')
  assert.deepEqual([...values], read)
  assert.deepEqual([...values.keys()], ['A', 'B', 'D', 'E'])

  const bound = names.map((name) => ({ name, placeholder: `roost-placeholder-${name}`, hasValue: true }))
  const placeholders = names.map((name) => [name, `roost-placeholder-${name}`])
  assert.deepEqual(parseDotenv(withPlaceholders(text, bound, values)), Object.fromEntries(placeholders))
})
