import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testSettings } from './kubernetes/test/settings.ts'
import { type OpenContainersOptions, openContainers } from './open.ts'

const kubeconfig = `
current-context: one
contexts: [{ name: one, context: { cluster: one } }]
clusters: [{ name: one, cluster: { server: 'https://127.0.0.1:1' } }]
`

async function withOptions(act: (options: OpenContainersOptions) => Promise<void>): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'roost-open-'))
  try {
    await writeFile(join(stateDir, 'kubeconfig'), kubeconfig)
    await act({
      install: 'one',
      network: 'roost-agents',
      sandbox: { stateDir, resolveImage: () => null },
      kubernetes: {
        namespace: null,
        settings: testSettings,
        env: { KUBECONFIG: join(stateDir, 'kubeconfig') },
      },
    })
  } finally {
    await rm(stateDir, { recursive: true })
  }
}

test('the scheme of the URL selects the adapter', () =>
  withOptions(async (options) => {
    const kinds = {
      'docker:': 'docker',
      'docker:///run/x.sock': 'docker',
      'sandbox:': 'sandbox',
      'kubernetes:': 'kubernetes',
      'kubernetes:?context=one&namespace=agents': 'kubernetes',
      'fake:': 'fake',
    }
    for (const [url, kind] of Object.entries(kinds)) {
      assert.equal((await openContainers(url, options)).kind, kind)
    }
  }))

test('an unknown scheme is refused with the name of the variable', () =>
  withOptions(async (options) => {
    for (const url of [
      '',
      'docker',
      'podman:',
      '/var/run/docker.sock',
      'sandbox:x',
      'docker:x',
      'kubernetes:x',
    ]) {
      await assert.rejects(openContainers(url, options), /ROOST_CONTAINERS_URL/, url)
    }
  }))
