import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findConnection, parseKubernetesUrl } from './kubeconfig.ts'

const folder = await mkdtemp(join(tmpdir(), 'roost-kubeconfig-'))
after(() => rm(folder, { recursive: true }))
const bare = { file: null, context: null, namespace: null }

async function write(name: string, content: unknown): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const cluster = (more: object = {}) => ({
  name: 'c',
  cluster: { server: 'https://one.example:6443', ...more },
})
const context = { name: 'x', context: { cluster: 'c', user: 'u', namespace: 'agents' } }
const config = (user: object, more: object = {}) => ({
  'current-context': 'x',
  contexts: [context],
  clusters: [cluster()],
  users: [{ name: 'u', user }],
  ...more,
})

test('the URL names file, context and namespace', () => {
  const table: [string, ReturnType<typeof parseKubernetesUrl>][] = [
    ['kubernetes:', bare],
    ['kubernetes:///etc/kube%20config', { ...bare, file: '/etc/kube config' }],
    ['kubernetes:///k?context=a&namespace=b', { file: '/k', context: 'a', namespace: 'b' }],
    ['kubernetes:?namespace=b', { ...bare, namespace: 'b' }],
  ]
  for (const [url, parsed] of table) assert.deepEqual(parseKubernetesUrl(url), parsed)
  for (const url of ['kubernetes:x', 'kubernetes://host/k', 'kubernetes:?contxt=a', 'kubernetes:///k#a'])
    assert.throws(() => parseKubernetesUrl(url), /ROOST_CONTAINERS_URL/, url)
})

test('inline certificates and files beside the kubeconfig are read', async () => {
  const inline = await write(
    'inline',
    config(
      { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
      { clusters: [cluster({ 'certificate-authority-data': base64('CA'), 'tls-server-name': 'kube' })] },
    ),
  )
  const one = await findConnection({ ...bare, file: inline }, {})
  assert.deepEqual(
    [one.server.href, one.ca, one.serverName, one.namespace],
    ['https://one.example:6443/', 'CA', 'kube', 'agents'],
  )
  assert.deepEqual(await one.credentials.current(), { certificate: 'CERT', key: 'KEY' })

  await mkdir(join(folder, 'pki'))
  for (const name of ['ca', 'cert', 'key', 'token']) await write(`pki/${name}`, `file ${name}`)
  const files = await write(
    'files',
    config(
      { 'client-certificate': 'pki/cert', 'client-key': join(folder, 'pki/key') },
      { clusters: [cluster({ 'certificate-authority': 'pki/ca' })] },
    ),
  )
  const two = await findConnection({ ...bare, file: files }, {})
  assert.equal(two.ca, 'file ca')
  assert.deepEqual(await two.credentials.current(), { certificate: 'file cert', key: 'file key' })
  const token = await write('token-file', config({ tokenFile: 'pki/token' }))
  const three = await findConnection({ ...bare, file: token }, {})
  assert.deepEqual(await three.credentials.current(), { token: 'file token' })
})

test('of several files in KUBECONFIG the first with an entry decides, and missing ones are skipped', async () => {
  const first = await write('first', {
    'current-context': 'x',
    users: [{ name: 'u', user: { token: 'first' } }],
  })
  const second = await write('second', config({ token: 'second' }))
  const KUBECONFIG = [join(folder, 'missing'), first, second].join(':')
  const found = await findConnection(bare, { KUBECONFIG })
  assert.deepEqual(await found.credentials.current(), { token: 'first' })
  await assert.rejects(
    findConnection(bare, { KUBECONFIG: `${folder}/no:${folder}/nowhere` }),
    /none of the files/,
  )
  await assert.rejects(findConnection(bare, { HOME: folder }), /\.kube\/config cannot be read/)
})

test('another context is selected by name', async () => {
  const file = await write('contexts', {
    ...config({ token: 't' }),
    contexts: [context, { name: 'y', context: { cluster: 'd' } }],
    clusters: [cluster(), { name: 'd', cluster: { server: 'https://two.example/prefix' } }],
  })
  const found = await findConnection({ ...bare, file, context: 'y' }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' })
  assert.equal(found.server.href, 'https://two.example/prefix')
  assert.equal(found.namespace, null)
  assert.deepEqual(await found.credentials.current(), {})
})

test('what is unsafe, unknown or incomplete is refused with the file and the field', async () => {
  const table: [unknown, RegExp][] = [
    ['', /is empty/],
    ['{', /is not YAML/],
    [{}, /current-context is missing/],
    [{ 'current-context': 'z' }, /contexts has no entry "z"/],
    [config({}, { clusters: [cluster({ 'insecure-skip-tls-verify': true })] }), /insecure-skip-tls-verify/],
    [config({}, { clusters: [cluster({ 'proxy-url': 'http://p' })] }), /proxy-url/],
    [config({}, { clusters: [cluster({ server: 'http://one.example' })] }), /must start with https/],
    [config({ username: 'u', password: 'p' }), /username is not supported/],
    [config({ 'auth-provider': { name: 'gcp' } }), /auth-provider is not supported/],
    [config({ 'client-key-data': base64('KEY') }), /both client-certificate and client-key/],
    [config({ 'client-certificate': 'nowhere' }), /client-certificate cannot be read/],
    [config({ exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' } }), /v1alpha1/],
    [config({ exec: { apiVersion: 'client.authentication.k8s.io/v1' } }), /needs a command/],
  ]
  for (const [content, message] of table) {
    const file = await write('wrong', content)
    await assert.rejects(findConnection({ ...bare, file }, {}), (error) => {
      assert.ok(error instanceof Error)
      assert.match(error.message, /^ROOST_CONTAINERS_URL: /)
      assert.match(error.message, message)
      return true
    })
  }
})
