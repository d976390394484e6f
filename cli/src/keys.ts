import { createKey, deleteKey, listKeys, revokeKey } from '@roost/contracts/identity/keys'
import { verbsCommand } from './client/client-command.ts'
import { table, time } from './client/output.ts'

export const keys = verbsCommand('keys', 'Your MCP keys: list, make, revoke, delete.', {
  list: {
    takes: '',
    summary: 'Your keys, without their secrets.',
    options: { all: { type: 'boolean' } },
    optionLines: ['--all            those of everybody; for admins'],
    async run({ api, flag, print }) {
      const found = await api.call(listKeys, { query: flag('all') ? { all: 'true' } : {} })
      print(found, () =>
        table(
          ['id', 'name', 'scope', 'begins', 'state', 'last used', 'owner'],
          found.map((key) => [
            key.id,
            key.name,
            key.scope,
            key.key_prefix,
            key.is_active ? 'active' : 'ended',
            time(key.last_used_at),
            key.username,
          ]),
        ),
      )
    },
  },
  create: {
    takes: 'NAME',
    summary: 'Make a key. Its secret is shown this once.',
    options: { scope: { type: 'string' }, description: { type: 'string' } },
    optionLines: ['--scope WORD     user (default); ops and portal_delegate are made in the browser'],
    async run({ api, positionals: [name = ''], text, print }) {
      const body = { name, scope: text('scope') ?? 'user', description: text('description') }
      const made = await api.call(createKey, { body })
      print(made, () => made.key)
    },
  },
  revoke: {
    takes: 'ID',
    summary: 'End a key; it stays listed.',
    async run({ api, positionals: [id = ''], print }) {
      const reply = await api.call(revokeKey, { params: { id } })
      print(reply, () => reply.message)
    },
  },
  delete: {
    takes: 'ID',
    summary: 'Delete a key for good.',
    async run({ api, positionals: [id = ''], print }) {
      const reply = await api.call(deleteKey, { params: { id } })
      print(reply, () => reply.message)
    },
  },
})
