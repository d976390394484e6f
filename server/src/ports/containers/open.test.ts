import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type OpenContainersOptions, openContainers } from './open.ts'

async function withOptions(act: (options: OpenContainersOptions) => Promise<void>): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'roost-open-'))
  try {
    await act({ install: 'one', network: 'roost-agents', sandbox: { stateDir, resolveImage: () => null } })
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
      'fake:': 'fake',
    }
    for (const [url, kind] of Object.entries(kinds)) {
      assert.equal((await openContainers(url, options)).kind, kind)
    }
  }))

test('an unknown scheme is refused with the name of the variable', () =>
  withOptions(async (options) => {
    for (const url of ['', 'docker', 'podman:', '/var/run/docker.sock', 'sandbox:x', 'docker:x']) {
      await assert.rejects(openContainers(url, options), /ROOST_CONTAINERS_URL/, url)
    }
  }))
