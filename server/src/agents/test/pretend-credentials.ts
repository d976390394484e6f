import assert from 'node:assert/strict'
import type { CredentialsStatusAnswer } from '@roost/contracts/link/credentials'
import type { FakeAnswers } from '../../ports/agent-link/fake.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'

/** Credential files in memory that answer like the agent's program. */
export function pretendCredentials(
  files: Map<string, Buffer>,
  /** Text of `template.yaml`, or null. */
  yaml: string | null = null,
  /** Paths that somebody other than the owner may have written. */
  foreign: ReadonlySet<string> = new Set(),
): FakeAnswers {
  const parts = new Map<string, Buffer>()
  const status = (): CredentialsStatusAnswer => ({
    files: [...files].map(([path, { length }]) => ({
      path,
      size: length,
      modified: '2030-01-01T00:00:00.000Z',
    })),
    variables: [...(files.get('.env') ?? '').toString().matchAll(/^(\w+)=./gm)].map(([, name = '']) => name),
    left_out: [],
    mcp_template: null,
    env_example: 'EXTRA_NAME=\n',
  })
  return {
    'credentials.status': status,
    'credentials.write': ({ upload_id, path, offset, data_base64 }) => {
      const before = parts.get(`${upload_id}/${path}`) ?? Buffer.alloc(0)
      assert.equal(before.length, offset)
      parts.set(`${upload_id}/${path}`, Buffer.concat([before, Buffer.from(data_base64, 'base64')]))
      return { ok: true }
    },
    'credentials.commit': ({ upload_id, paths }) => {
      for (const path of paths) files.set(path, parts.get(`${upload_id}/${path}`) ?? assert.fail(path))
      return { written: paths, left_out: [] }
    },
    'credentials.read': ({ path, offset, length, owners_only }) => {
      if (owners_only && foreign.has(path)) throw new LinkFault({ code: 'protected_path', message: 'x' })
      const bytes = files.get(path)
      if (!bytes) throw new LinkFault({ code: 'file_not_found', message: 'x' })
      const piece = bytes.subarray(offset, offset + length)
      return {
        data_base64: piece.toString('base64'),
        size: bytes.length,
        eof: offset + piece.length >= bytes.length,
      }
    },
    info: () => ({
      template_yaml: yaml,
      metrics_json: null,
      runtime_version: null,
      workspace_initialized: true,
    }),
  }
}
