import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFakeHost } from './fake.ts'
import { hostSuite } from './suite.ts'
import { systemHost } from './system.ts'

describe('the machine', () => {
  hostSuite(() => systemHost(tmpdir()))

  test('a missing folder is an error, not a disk without size', async () => {
    await assert.rejects(systemHost(join(tmpdir(), 'roost-not-there')).read(), { code: 'ENOENT' })
  })
})

describe('the fake', () => hostSuite(createFakeHost))
